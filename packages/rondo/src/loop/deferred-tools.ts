// With more tools than a model can take, it gets two: one that finds tools, and one that calls what was found. The
// definitions come as a result, at the end of the prompt: its beginning, where chat templates write tools, stays.

import { objectIn } from "../json/object-in.ts";
import type { Message, ToolCall, ToolMessage } from "../model/message.ts";
import { guessTokens } from "../model/text-tokens.ts";
import { tool } from "../tool/define.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { RawCall } from "./check-call.ts";
import type { LoopOptions } from "./options.ts";
import { foundTools, ToolSearch } from "./tool-search.ts";

/** With more tools than this, or with definitions that take more of a known window, all are deferred. */
const [defaultMaxTools, shareOfWindow] = [64, 0.25];

/** The tools that a model has to find first. */
export function toDefer(
  offered: readonly AnyTool[],
  { isDeferred, maxTools = defaultMaxTools, model, toolChoice }: LoopOptions,
): AnyTool[] {
  const isNamed = ({ wireName }: AnyTool) => typeof toolChoice === "object" && toolChoice.name === wireName;
  const marked = isDeferred ? offered.filter((it) => isDeferred(it) && !isNamed(it)) : [];
  const shown = offered.filter((it) => !marked.includes(it));
  if (shown.length > maxTools) return offered.filter((it) => !isNamed(it));
  const window = model.profile.contextWindow;
  if (window === undefined || shown.length <= 2 || maxTools === Number.POSITIVE_INFINITY) return marked;
  const tokens = guessTokens(JSON.stringify(shown.map((it) => it.toOpenAI())));
  return tokens > window * shareOfWindow ? offered.filter((it) => !isNamed(it)) : marked;
}

export interface DeferredNames {
  readonly search: string;
  readonly call: string;
}

export class DeferredTools {
  readonly #names: DeferredNames;
  readonly #wireNames: ReadonlySet<string>;
  /** What the model is offered instead. */
  readonly tools: readonly AnyTool[];
  readonly #views = new WeakMap<Message, Message>();

  /** `searches`: whether the model finds them here, and not with a tool of somebody else's. */
  constructor(deferred: readonly AnyTool[], names: DeferredNames, searches: boolean) {
    this.#names = names;
    this.#wireNames = new Set(deferred.map(({ wireName }) => wireName));
    this.tools = [
      ...(searches ? [searchTool(new ToolSearch(deferred), deferred.length, names)] : []),
      callTool(names),
    ];
  }

  /** A call of a found tool, as if the model had called it itself. */
  unwrap(raw: RawCall): RawCall {
    if (raw.name !== this.#names.call) return raw;
    const { name, arguments: input } = objectIn(raw.arguments) ?? {};
    if (typeof name !== "string" || name === this.#names.call) return raw;
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    return { ...raw, name, arguments: text };
  }

  /** A message as the model wrote it, with the calls of found tools as calls of the one that calls them. */
  view(message: Message): Message {
    if (!this.#isAffected(message)) return message;
    const known = this.#views.get(message);
    if (known) return known;
    const view =
      message.role === "assistant"
        ? { ...message, tool_calls: (message.tool_calls ?? []).map((call) => this.#wrap(call)) }
        : ({ ...message, name: this.#names.call } as ToolMessage);
    this.#views.set(message, view);
    return view;
  }

  #isAffected(message: Message): boolean {
    if (message.role === "tool") return message.name !== undefined && this.#wireNames.has(message.name);
    if (message.role !== "assistant" || !message.tool_calls) return false;
    return message.tool_calls.some((call) => this.#wireNames.has(call.function.name));
  }

  #wrap(call: ToolCall): ToolCall {
    const { name, arguments: text } = call.function;
    if (!this.#wireNames.has(name)) return call;
    const wrapped = JSON.stringify({ name, arguments: objectIn(text) ?? {} });
    return { ...call, function: { name: this.#names.call, arguments: wrapped } };
  }
}

function searchTool(search: ToolSearch, count: number, { search: name, call }: DeferredNames): AnyTool {
  const names = search.names.join(", ");
  return tool(
    {
      name,
      description: `Finds tools by what they do. There are ${count} of them that are not shown here: ${names}${count > search.names.length ? ", …" : ""}. Find a tool before you use it, and then call it with ${call}.`,
      input: { query: { type: "string", description: "What the tool should do, or its name." } },
      idempotent: true,
      registry: false,
    },
    async ({ query }) => foundTools(search.find(query), call),
  );
}

function callTool({ search, call }: DeferredNames): AnyTool {
  return tool(
    {
      name: call,
      description: `Calls a tool that ${search} found.`,
      input: {
        name: { type: "string", description: "The name of the tool." },
        arguments: { type: "object", description: "The arguments, as the tool's parameters say." },
      },
      registry: false,
    },
    async () => {
      throw new Error(`Give the name of a tool that ${search} found, and its arguments as an object.`);
    },
  );
}
