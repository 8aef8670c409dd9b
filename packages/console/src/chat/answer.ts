// An answer while it comes: the items of a response, from its events or from what is stored.

import { computed, type Signal, signal } from "@preact/signals";
import { type Item, isRunning, type ResponseObject, type ResponseProblem } from "../api/response.ts";
import type { ServerEvent } from "../api/sse.ts";
import { textOf } from "./item-text.ts";

/** An item of an answer. Its text grows on its own, so that only what shows the text is rendered again. */
export interface AnswerItem {
  readonly key: string;
  readonly item: Signal<Item>;
  readonly text: Signal<string>;
  readonly isDone: Signal<boolean>;
}

const textDeltas = new Set([
  "response.output_text.delta",
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
  "response.function_call_arguments.delta",
  "response.mcp_call_arguments.delta",
  "response.custom_tool_call_input.delta",
  "response.code_interpreter_call_code.delta",
]);

export class Answer {
  readonly items = signal<readonly AnswerItem[]>([]);
  readonly response = signal<ResponseObject | undefined>(undefined);
  /** Why there is no answer, or no more of it. */
  readonly problem = signal<ResponseProblem | undefined>(undefined);
  readonly isOver = computed(() => {
    const response = this.response.value;
    return this.problem.value !== undefined || (response !== undefined && !isRunning(response));
  });
  /** The number of the last event, for following on from there. */
  sequence = -1;
  readonly #byIndex = new Map<number, AnswerItem>();
  /** Which kind of thoughts each item has: a server may send them twice, in two forms. */
  readonly #thoughts = new Map<string, string>();

  /** Takes in what is stored. */
  show(response: ResponseObject): void {
    this.response.value = response;
    this.problem.value = response.error ?? undefined;
    this.#byIndex.clear();
    for (const [index, item] of response.output.entries()) this.#add(index, item, true);
    this.items.value = [...this.#byIndex.values()];
  }

  apply(event: ServerEvent): void {
    if (typeof event.sequence_number === "number") this.sequence = event.sequence_number;
    const { type } = event;
    if (textDeltas.has(type)) this.#append(event);
    else if (type === "response.output_item.added") this.#start(event);
    else if (type === "response.output_item.done") this.#finish(event);
    else if (type === "error") this.problem.value ??= problemOf(event);
    else if (isObject(event["response"])) this.#update(event["response"] as unknown as ResponseObject);
  }

  /** Nothing more will come. */
  fail(problem: ResponseProblem): void {
    this.problem.value = problem;
  }

  /** A person stopped it, and nobody keeps it. What was said stays. */
  stop(): void {
    const response = this.response.peek();
    if (!response) {
      this.fail({ code: "stopped", message: "Stopped before the answer began." });
      return;
    }
    for (const { item, text, isDone } of this.items.peek()) {
      if (!isDone.peek()) item.value = withText(item.peek(), text.peek());
      isDone.value = true;
    }
    this.response.value = { ...response, status: "cancelled" };
  }

  #update(response: ResponseObject): void {
    this.response.value = response;
    if (response.error) this.problem.value = response.error;
    if (isRunning(response)) return;
    for (const { isDone } of this.items.peek()) isDone.value = true;
  }

  #start({ output_index: index, item }: ServerEvent): void {
    if (typeof index !== "number" || !isObject(item)) return;
    this.#add(index, item as unknown as Item, false);
    this.items.value = [...this.#byIndex.values()];
  }

  #finish({ output_index: index, item }: ServerEvent): void {
    if (typeof index !== "number" || !isObject(item)) return;
    const known = this.#byIndex.get(index);
    if (!known) {
      this.#add(index, item as unknown as Item, true);
      this.items.value = [...this.#byIndex.values()];
      return;
    }
    known.item.value = item as unknown as Item;
    known.text.value = textOf(known.item.peek()) || known.text.peek();
    known.isDone.value = true;
  }

  #append({ type, output_index: index, delta }: ServerEvent): void {
    const known = this.#byIndex.get(index as number);
    if (!known || typeof delta !== "string") return;
    if (known.item.peek().type === "reasoning") {
      const first = this.#thoughts.get(known.key) ?? type;
      this.#thoughts.set(known.key, first);
      if (first !== type) return;
    }
    known.text.value += delta;
  }

  #add(index: number, item: Item, isDone: boolean): void {
    this.#byIndex.set(index, {
      key: `${index}`,
      item: signal(item),
      text: signal(textOf(item)),
      isDone: signal(isDone),
    });
  }
}

/** A message that broke off, with what it says so far. Others, and empty ones, tell a model nothing: they stay as they are. */
function withText(item: Item, text: string): Item {
  if (item.type !== "message" || text === "") return item;
  return { ...item, status: "incomplete", content: [{ type: "output_text", text }] };
}

function problemOf({ code, message }: ServerEvent): ResponseProblem {
  return {
    code: typeof code === "string" ? code : "error",
    message: typeof message === "string" ? message : "The run failed.",
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
