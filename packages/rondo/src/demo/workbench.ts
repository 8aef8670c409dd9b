// Where tasks get their results from: calls that have been answered, or new ones that must be.

import type { OpenAITool } from "../tool/tool.ts";
import { type AnsweredCall, type Conversation, failureIn } from "./conversation.ts";
import type { PlannedCall } from "./tool-input.ts";

export interface ToolResult {
  readonly text: string;
  readonly isFailure: boolean;
}

/** The model has no memory, so it goes through its tasks each time, and finds the answered calls again. */
export class Workbench {
  readonly tools: readonly OpenAITool[];
  /** What was said so far, to search in. */
  readonly texts: readonly string[];
  /** The calls that are still to be made. */
  readonly calls: PlannedCall[] = [];
  readonly #answered: AnsweredCall[];

  constructor(tools: readonly OpenAITool[], { answered }: Conversation, texts: readonly string[]) {
    this.tools = tools;
    this.texts = texts;
    this.#answered = [...answered];
  }

  /** The result of a call; `undefined` if it has yet to be made. */
  ask({ tool, input }: PlannedCall): ToolResult | undefined {
    const key = sorted(input);
    const { name } = tool.function;
    const index = this.#answered.findIndex(
      (call) => call.name === name && sortedText(call.arguments) === key,
    );
    const [found] = index < 0 ? [] : this.#answered.splice(index, 1);
    if (!found) {
      this.calls.push({ tool, input });
      return undefined;
    }
    const failure = failureIn(found.result);
    return { text: failure ?? found.result, isFailure: failure !== undefined };
  }

  /** Results that no task has asked for: those of calls that were demanded. */
  leftOver(): readonly AnsweredCall[] {
    return this.#answered;
  }
}

/** JSON that does not depend on the order of keys: servers may write arguments anew. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function sortedText(text: string): string {
  try {
    return sorted(JSON.parse(text));
  } catch {
    return text;
  }
}
