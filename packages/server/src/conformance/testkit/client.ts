// What the tests want of each client: to work on a task with tools of its own until the model has its answer.

import { z } from "zod";
import type { TestServer } from "./start.ts";

/** A function of the client. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject<{ a: z.ZodNumber; b: z.ZodNumber }>;
  readonly run: (input: { a: number; b: number }) => string;
}

export interface Task {
  readonly prompt: string;
  /** Default: `test`. */
  readonly model?: string | undefined;
  readonly tools: readonly ClientTool[];
  readonly signal: AbortSignal;
  /** Called with each piece of text as it comes; clients that do not stream never call it. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** How one answer has ended, as the client understands it. */
export type Finish = "calls" | "end" | "length" | (string & {});

export interface Outcome {
  /** The last answer, and for some clients what the model said before it in the same response. */
  readonly text: string;
  /** One for each request that the client has made. */
  readonly finishes: readonly Finish[];
}

export interface TestClient {
  readonly name: string;
  readonly isStreamed: boolean;
  /** Whether it has the server keep nothing. */
  readonly isStateless?: boolean;
  /** Whether it throws at an answer that is incomplete, as if it had failed. */
  readonly throwsAtIncomplete?: boolean;
  /** Whether it shows what is wrong only if the error has a `code` and a `param`, and else only the status. */
  readonly hidesErrors?: boolean;
  /** Works until there is an answer. Throws what the client throws. */
  work(server: TestServer, task: Task): Promise<Outcome>;
}

/** The functions of the client, each call of which is written down in `ran`. */
export function clientTools(ran: string[]): ClientTool[] {
  const input = z.object({ a: z.number(), b: z.number() });
  const define = (
    name: string,
    description: string,
    compute: (a: number, b: number) => number,
  ): ClientTool => ({
    name,
    description,
    input,
    run: ({ a, b }) => {
      ran.push(`${name}(${a}, ${b})`);
      return String(compute(a, b));
    },
  });
  return [
    define("add", "Adds two numbers.", (a, b) => a + b),
    define("multiply", "Multiplies two numbers.", (a, b) => a * b),
  ];
}

/** For clients that leave the loop to their user: enough rounds for every scenario, and an end for a loop that has none. */
export const maxRounds = 8;
