// The links between the documents of the repository.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Links of a document to missing files or headings, as readable lines. */
export function brokenLinks(document: string, root: string): string[] {
  const markdown = readFileSync(join(root, document), "utf8");
  return linksIn(markdown).flatMap(({ line, target }) => {
    if (/^[a-z]+:/.test(target)) return []; // external: tests must not use the network
    const [path = "", anchor] = target.split("#", 2);
    const file = path === "" ? join(root, document) : join(root, dirname(document), decodeURI(path));
    const where = `${document}:${line} links to ${target}`;
    const name = relative(root, file).replaceAll("\\", "/");
    if (!existsSync(file)) return [`${where}, but there is no ${name}.`];
    if (anchor === undefined || headingsIn(readFileSync(file, "utf8")).includes(anchor)) return [];
    return [`${where}, but ${name} has no such heading.`];
  });
}

function linksIn(markdown: string): { line: number; target: string }[] {
  return withoutCode(markdown).flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({ line: index + 1, target })),
  );
}

/** The anchors of a document's headings, as on GitHub. */
function headingsIn(markdown: string): string[] {
  const counts = new Map<string, number>();
  // Inline code stays: it is part of the anchor.
  return withoutBlocks(markdown).flatMap((text) => {
    const [, title] = /^#{1,6}\s+(.*?)\s*$/.exec(text) ?? [];
    if (title === undefined) return [];
    const slug = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return [count === 0 ? slug : `${slug}-${count}`];
  });
}

function withoutCode(markdown: string): string[] {
  return withoutBlocks(markdown).map((line) => line.replaceAll(/`[^`]*`/g, ""));
}

/** The lines of a document, with code blocks blanked. */
function withoutBlocks(markdown: string): string[] {
  let fence: string | undefined;
  return markdown.split("\n").map((line) => {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) {
      fence = undefined;
      return "";
    }
    return fence === undefined ? line : "";
  });
}
