// `npm run tour`: a guided tour of the examples, with their code and their output: side by side where the terminal is
// wide enough, else the code first. On a terminal it pauses between them. The folder is an optional argument, for tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import { readExamples } from "./examples.ts";
import { sideBySide } from "./side-by-side.ts";

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL("../examples", import.meta.url)));
const atTerminal = process.stdin.isTTY && process.stdout.isTTY;

// Ctrl-C also ends the example in progress; the tour then stops.
process.once("SIGINT", () => leave(130));

const examples = readExamples(folder);
console.log(`A tour of Rondo in ${examples.length} examples.`);

const failed: string[] = [];
for (const [index, { name, path, title, source }] of examples.entries()) {
  if (index > 0) await pause();
  console.log(
    `\n${bold(`${index + 1}/${examples.length}  ${title}`)}\n${dim(relative(process.cwd(), path))}\n`,
  );
  const code = await show(path, source);
  if (code === 0) continue;
  console.log(`\n${name} failed (${code}).`);
  failed.push(name);
}

if (failed.length > 0) {
  console.log(`\nThe tour ended with failures: ${failed.join(", ")}.`);
  process.exitCode = 1;
} else {
  console.log("\nThat was the tour. Read next: README.md, then the guides in docs/.");
}

/** Shows the code of an example, and what it prints. Gives its exit code. */
async function show(path: string, source: string): Promise<number | string> {
  const code = source.trimEnd().split("\n").slice(1); // the title is shown already
  const columns = process.stdout.isTTY ? process.stdout.columns : 0;
  const isWide = sideBySide(code, [], columns) !== undefined;
  if (!isWide) console.log(`${code.map((line) => dim(`  │ ${line}`.trimEnd())).join("\n")}\n`);
  const child = spawn(process.execPath, ["--conditions=rondo-source", path], {
    stdio: isWide ? ["ignore", "pipe", "inherit"] : ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "exit");
  const output = child.stdout ? (await text(child.stdout)).trimEnd().split("\n") : [];
  const [exitCode, signal] = await ended;
  for (const [left, right] of (isWide && sideBySide(code, output, columns)) || [])
    console.log(`${dim(left)}${dim(" │ ")}${right}`);
  return exitCode ?? signal;
}

/** Waits for Enter on a terminal. "q", the end of input and Ctrl-C leave the tour. */
async function pause(): Promise<void> {
  if (!atTerminal) return;
  process.stdout.write(dim("\nEnter continues, q quits. "));
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: "" });
  const answer = await new Promise<string>((answered) => {
    terminal.once("line", answered);
    terminal.once("close", () => answered("q"));
    terminal.once("SIGINT", () => leave(130));
  });
  terminal.close();
  if (answer.trim().toLowerCase() === "q") leave(0);
}

function leave(code: number): never {
  console.log("\nThe tour ends here. `npm run tour` starts it again.");
  process.exit(code);
}

// styleText leaves the text plain if stdout is not a terminal or NO_COLOR is set.
function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

function dim(text: string): string {
  return styleText("dim", text, { stream: process.stdout });
}
