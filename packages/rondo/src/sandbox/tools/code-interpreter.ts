// A tool with which a model runs code in a container, and keeps its variables from call to call.

import { checkName, checkOptions } from "../../error/check.ts";
import { tool } from "../../tool/define.ts";
import type { Tool } from "../../tool/tool.ts";
import type { CodeOutput, Interpreter, Language } from "../interpreter/interpreter.ts";
import { openInterpreter } from "../interpreter/open-interpreter.ts";
import type { Container } from "../sandbox.ts";
import { codeResultText, figureName } from "./code-result.ts";

export interface CodeInterpreterOptions {
  /** Where the code runs. Whoever opened it closes it. */
  readonly container: Container;
  /** Default: `python`. */
  readonly language?: Language;
  /** An interpreter of the container that runs already, such as one of a pool. Default: started with the first call. */
  readonly interpreter?: Interpreter;
  /** The name that the model sees. Default: that of the language. */
  readonly name?: string;
}

/** Time for saving figures and starting an interpreter, beyond that of the code. */
const spareMs = 15_000;

const descriptions: Readonly<Record<Language, string>> = {
  python:
    "Run Python code. Variables stay from call to call. Returns what the code prints, and the value of its last expression. Figures of matplotlib are saved as PNG files. Files of the user are in the working folder /mnt/data; save files there to hand them over. There is no network.",
  javascript:
    "Run JavaScript code in Node.js. Variables stay from call to call, and top-level await works. Returns what the code prints, and the value of its last expression. Load modules with require(). Files of the user are in the working folder /mnt/data; save files there to hand them over. There is no network.",
};

/**
 * A tool that runs code in a container, for `query()`, `Client` and agents. The model gets the output as text, without
 * control characters. Figures become files of the container. It yields the output as it comes.
 */
export function codeInterpreter(
  options: CodeInterpreterOptions,
): Tool<{ code: string }, string, CodeOutput, { code: string }> {
  checkOptions("options", options, ["container", "language", "interpreter", "name"]);
  const { container } = options;
  const language = options.language ?? options.interpreter?.language ?? "python";
  const name = checkName("options.name", options.name ?? language);
  let interpreter = options.interpreter;
  let figures = 0;
  return tool(
    {
      name,
      description: descriptions[language],
      input: {
        code: { type: "string", description: `The ${language === "python" ? "Python" : "JavaScript"} code.` },
      },
      lock: true,
      timeoutMs: container.limits.timeoutMs + spareMs,
      registry: false,
    },
    async function* runCode({ code }, { signal }) {
      if (interpreter?.isAlive !== true) interpreter = await openInterpreter(container, { language });
      const call = interpreter.run(code, { signal });
      const parts: (CodeOutput | { type: "file"; path: string })[] = [];
      for await (const output of call) {
        if (output.type !== "image") parts.push(output);
        else {
          figures++;
          const { path } = await container.write(figureName(figures), output.bytes, signal);
          parts.push({ type: "file", path });
        }
        yield output;
      }
      return codeResultText(parts, await call.outcome);
    },
  );
}
