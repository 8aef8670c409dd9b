// The programs in the documentation: each ```ts block is a whole program.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repoRoot } from "./repo.ts";

export interface Snippet {
  /** `docs/tools.md:12`: the document and the first line of the block. */
  readonly title: string;
  readonly source: string;
  /** Name of the extracted file. */
  readonly file: string;
}

const otherSpellings = ["typescript", "mts", "cts", "tsx", "js", "javascript", "mjs", "cjs", "jsx"];

/** Finds the programs in a document. Throws for a block that would not be run. */
export function snippetsIn(document: string, markdown: string): Snippet[] {
  const snippets: Snippet[] = [];
  const lines = markdown.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const [, indent = "", fence, language = "", rest = ""] =
      /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)\s*([^`]*)$/.exec(lines[i] ?? "") ?? [];
    if (!fence) continue;
    const title = `${document}:${i + 1}`;
    const isEnd = (line: string) => line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim());
    const end = lines.findIndex((line, at) => at > i && isEnd(line));
    if (end < 0) throw new Error(`${title} begins a block that does not end.`);
    if (otherSpellings.includes(language.toLowerCase()))
      throw new Error(`${title} is marked '${language}': mark programs as 'ts', so that they are run.`);
    if (language === "ts") {
      if (rest !== "")
        throw new Error(`${title} is marked 'ts ${rest}': a program takes no marks, all are run.`);
      const body = lines
        .slice(i + 1, end)
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
      // Leading empty lines keep the document's line numbers, for error messages.
      const source = `${"\n".repeat(i + 1)}${body.join("\n")}\n`;
      snippets.push({ title, source, file: `${title.replace(/[^\w.]+/g, "-")}.ts` });
    }
    i = end;
  }
  return snippets;
}

/** All programs of the documentation. */
export function documentedPrograms(): Snippet[] {
  // The API reference quotes comments, whose examples are not whole programs.
  return globSync(["*.md", "docs/*.md", "docs/decisions/*.md", "packages/*/README.md"], { cwd: repoRoot })
    .map((document) => document.replaceAll("\\", "/"))
    .toSorted()
    .flatMap((document) => snippetsIn(document, readFileSync(join(repoRoot, document), "utf8")));
}

/** Writes the programs into an empty folder, with a compiler configuration. */
export function extract(snippets: readonly Snippet[], folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const config = { extends: "../../tsconfig.dev.json", include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  for (const { file, source } of snippets) writeFileSync(join(folder, file), source);
}
