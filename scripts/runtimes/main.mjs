// Runs the program on Node, Bun and Deno: `main.mjs URL`.
import { program } from "./program.mjs";

const problems = await program(globalThis.process.argv[2]);
for (const problem of problems) console.error(problem);
globalThis.process.exitCode = problems.length > 0 ? 1 : 0;
