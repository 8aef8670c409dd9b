// A guided tour of the examples, behind `npm run tour`. At a terminal it waits between them; anywhere else it
// runs through. The folder may be given, which is how the tests have a tour of their own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import { readExamples } from "./examples.ts";

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL("../examples", import.meta.url)));
const atTerminal = process.stdin.isTTY && process.stdout.isTTY;

// An interrupted example ends by the same Ctrl-C; the tour then says goodbye instead of going on.
process.once("SIGINT", () => leave(130));

const examples = readExamples(folder);
console.log(`A tour of Rondo in ${examples.length} examples.`);

const failed: string[] = [];
for (const [index, { name, path, title }] of examples.entries()) {
  if (index > 0) await pause();
  console.log(
    `\n${bold(`${index + 1}/${examples.length}  ${title}`)}\n${dim(relative(process.cwd(), path))}\n`,
  );
  const code = await run(path);
  if (code === 0) continue;
  console.log(`\n${name} failed (${code}).`);
  failed.push(name);
}

if (failed.length > 0) {
  console.log(`\nThe tour ended with failures: ${failed.join(", ")}.`);
  process.exitCode = 1;
} else {
  console.log("\nThat was the tour. Read next: README.md, then the guides in docs/, one for each idea.");
}

async function run(path: string): Promise<number | string> {
  const child = spawn(process.execPath, ["--conditions=rondo-source", path], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code, signal] = await once(child, "exit");
  return code ?? signal;
}

/** Waits for Enter at a terminal. "q" and the end of input leave the tour, and so does Ctrl-C. */
async function pause(): Promise<void> {
  if (!atTerminal) return;
  process.stdout.write(dim("\nEnter goes on, q leaves. "));
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
  console.log("\nThe tour ends here. `npm run tour` begins it again.");
  process.exit(code);
}

// styleText leaves the text plain when stdout is no terminal or NO_COLOR is set.
function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

function dim(text: string): string {
  return styleText("dim", text, { stream: process.stdout });
}
