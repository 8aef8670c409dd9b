// Whether a stream follows the contract as a whole: its order, its numbers, its pairs and its sums. What a single
// event looks like is the public schema's business.

import { isDeepStrictEqual } from "node:util";
import type { Frame } from "./frames.ts";

// biome-ignore lint/suspicious/noExplicitAny: events are looked into as they came; the schema has its own check.
type Wire = any;

interface OpenPart {
  text: string;
  readonly annotations: Wire[];
  /** What `….text.done` has said, if it was said. */
  done: string | undefined;
  closed: Wire;
}

interface OpenItem {
  readonly item: Wire;
  readonly index: number;
  readonly parts: OpenPart[];
  /** The parts of a thought's summary. */
  readonly summary: OpenPart[];
  arguments: { text: string; deltas: number; done: string | undefined };
  /** The steps of a call that the server runs, in their order. */
  readonly steps: string[];
  closed: Wire;
}

const terminal: Readonly<Record<string, readonly string[]>> = {
  "response.completed": ["completed", "requires_action"],
  "response.incomplete": ["incomplete", "cancelled"],
  "response.failed": ["failed"],
};

/** Items of these types have no status in the public schema. */
const withoutStatus: readonly string[] = [
  "compaction",
  "mcp_approval_request",
  "mcp_list_tools",
  "custom_tool_call",
];

/** Calls that the client runs. */
const clientCalls: readonly string[] = [
  "function_call",
  "custom_tool_call",
  "shell_call",
  "local_shell_call",
  "apply_patch_call",
];

/** What is wrong with a stream. `isCut`: the reader left before its end, so the end is not looked for. */
export function streamFlaws(frames: readonly Frame[], { isCut = false }: { isCut?: boolean } = {}): string[] {
  const checker = new StreamChecker();
  for (const frame of frames) checker.take(frame);
  if (!isCut) checker.end();
  return checker.flaws;
}

class StreamChecker {
  readonly flaws: string[] = [];
  readonly #items: OpenItem[] = [];
  readonly #opening: string[] = [];
  #at = 0;
  #id: string | undefined;
  #terminal: string | undefined;
  #hasError = false;
  #isDone = false;

  take({ event, data }: Frame): void {
    if (this.#isDone) this.#flaw(`came after [DONE]: ${JSON.stringify(data)}`);
    if (data === "[DONE]") {
      if (!this.#terminal) this.#flaw("[DONE] came before a terminal event");
      this.#isDone = true;
      return;
    }
    const body = data as Wire;
    if (event !== body.type) this.#flaw(`the event is named '${event}', but its type is '${body.type}'`);
    if (body.sequence_number !== this.#at)
      this.#flaw(`expected sequence_number ${this.#at}, but got ${body.sequence_number}`);
    if (this.#terminal) this.#flaw(`'${body.type}' came after the terminal event '${this.#terminal}'`);
    if (body.type !== "keepalive") this.#event(body);
    this.#at++;
  }

  end(): void {
    if (!this.#terminal) this.#flaw("the stream ended without a terminal event");
    if (!this.#isDone) this.#flaw("the stream ended without [DONE]");
  }

  #event(body: Wire): void {
    const type: string = body.type;
    if (body.response) this.#response(type, body.response);
    else if (this.#opening.at(-1) !== "response.in_progress" && type !== "error")
      this.#flaw(`'${type}' came before 'response.in_progress'`);
    if (this.#hasError && type !== "response.failed") this.#flaw(`'${type}' came after 'error'`);
    if (type === "error") this.#hasError = true;
    else if (type === "response.output_item.added") this.#added(body);
    else if ("output_index" in body) this.#inItem(type, body);
    else if (!body.response) this.#flaw(`the checker does not know '${type}'`);
  }

  #response(type: string, response: Wire): void {
    this.#id ??= response.id;
    if (response.id !== this.#id)
      this.#flaw(`the response's id changed from '${this.#id}' to '${response.id}'`);
    const statuses = terminal[type];
    if (statuses) {
      this.#ended(type, response, statuses);
      return;
    }
    const order = ["response.created", "response.queued", "response.in_progress"];
    const place = order.indexOf(type);
    if (place < 0) this.#flaw(`the checker does not know '${type}'`);
    if (place <= order.indexOf(this.#opening.at(-1) ?? "")) this.#flaw(`'${type}' came twice, or too late`);
    if (this.#opening.length === 0 && place !== 0) this.#flaw(`'${type}' came before 'response.created'`);
    if (response.output.length > 0) this.#flaw("the response had output before its first item");
    this.#opening.push(type);
  }

  #ended(type: string, response: Wire, statuses: readonly string[]): void {
    this.#terminal = type;
    if (!statuses.includes(response.status)) this.#flaw(`'${type}' carries the status '${response.status}'`);
    // One that was cancelled in the queue has never been in progress.
    if (this.#opening.at(-1) !== "response.in_progress" && response.status !== "cancelled")
      this.#flaw(`'${type}' came before 'response.in_progress'`);
    if (type === "response.failed" && !response.error) this.#flaw("a failed response has no error");
    if (type === "response.failed" && !this.#hasError) this.#flaw("'response.failed' came without 'error'");
    if (type === "response.incomplete" && !response.incomplete_details)
      this.#flaw("an incomplete response has no incomplete_details");
    if (typeof response.usage !== "object" || response.usage === null)
      this.#flaw("the terminal response has no usage");
    for (const { item, closed } of this.#items)
      if (!closed) this.#flaw(`the item '${item.id}' was added, but never done`);
    const done = this.#items.map(({ closed }) => closed);
    if (!isDeepStrictEqual(response.output, done))
      this.#flaw(
        `the terminal response's output is not the items that were done: ${JSON.stringify(response.output)} ` +
          `instead of ${JSON.stringify(done)}`,
      );
    const isForClient = (item: Wire) => clientCalls.includes(item?.type);
    if (response.status === "requires_action" && !done.some(isForClient))
      this.#flaw("the status is 'requires_action', but there is no function_call");
  }

  #added({ item, output_index }: Wire): void {
    if (output_index !== this.#items.length)
      this.#flaw(`expected output_index ${this.#items.length}, but got ${output_index}`);
    if (this.#items.some((other) => other.item.id === item.id))
      this.#flaw(`the item '${item.id}' was added twice`);
    const isWhole = item.type === "mcp_approval_request";
    if (item.status !== "in_progress" && !withoutStatus.includes(item.type))
      this.#flaw(`the item '${item.id}' was added with the status '${item.status}'`);
    if (item.content?.length > 0 || item.summary?.length > 0)
      this.#flaw(`the item '${item.id}' was added with content`);
    if (item.tools?.length > 0) this.#flaw(`the list '${item.id}' was added with tools`);
    if ((item.arguments ?? item.input ?? item.code ?? "") !== "" && !isWhole)
      this.#flaw(`the item '${item.id}' was added with arguments`);
    const noArguments = { text: "", deltas: 0, done: undefined };
    this.#items.push({
      item,
      index: output_index,
      parts: [],
      summary: [],
      arguments: noArguments,
      steps: [],
      closed: undefined,
    });
  }

  #inItem(type: string, body: Wire): void {
    const id = body.item_id ?? body.item?.id;
    const open = this.#items.find(({ item }) => item.id === id);
    if (!open) {
      this.#flaw(`'${type}' names the unknown item '${id}'`);
      return;
    }
    if (open.index !== body.output_index)
      this.#flaw(`'${type}' has output_index ${body.output_index}, but its item is at ${open.index}`);
    if (open.closed) this.#flaw(`'${type}' came after the item '${id}' was done`);
    if (type === "response.output_item.done") this.#done(open, body.item);
    else if (/^response\.(content|reasoning_summary)_part\./.test(type)) this.#part(type, open, body);
    else if ("content_index" in body || "summary_index" in body) this.#text(type, open, body);
    else if (/^response\.(function_call|mcp_call)_arguments\./.test(type))
      this.#arguments(type, open, body, body.arguments);
    else if (type.startsWith("response.shell_call_command.")) {
      if (body.command_index >= open.item.action.commands.length)
        this.#flaw(`'${type}' is about a command that '${id}' does not have`);
    } else if (type.startsWith("response.custom_tool_call_input."))
      this.#arguments(type, open, body, body.input);
    else if (type.startsWith("response.shell_call_output_content.")) {
      if (open.item.type !== "shell_call_output")
        this.#flaw(`'${type}' does not belong to an item of type '${open.item.type}'`);
    } else if (type.startsWith("response.code_interpreter_call_code."))
      this.#arguments(type, open, body, body.code);
    else if (/^response\.(mcp_(call|list_tools)|code_interpreter_call)\./.test(type)) {
      if (!type.startsWith(`response.${open.item.type}.`))
        this.#flaw(`'${type}' does not belong to an item of type '${open.item.type}'`);
      open.steps.push(type.slice(type.lastIndexOf(".") + 1));
    } else this.#flaw(`the checker does not know '${type}'`);
  }

  /** The parts that an event is about, its index among them, and what that is called. */
  #place(type: string, open: OpenItem, body: Wire): { list: OpenPart[]; index: number; key: string } {
    const isSummary = type.startsWith("response.reasoning_summary_");
    const key = isSummary ? "summary_index" : "content_index";
    if (isSummary && open.item.type !== "reasoning")
      this.#flaw(`'${type}' does not belong to an item of type '${open.item.type}'`);
    return { list: isSummary ? open.summary : open.parts, index: body[key], key };
  }

  #part(type: string, open: OpenItem, body: Wire): void {
    const { list, index, key } = this.#place(type, open, body);
    if (type.endsWith(".added")) {
      if (index !== list.length) this.#flaw(`expected ${key} ${list.length}, but got ${index}`);
      if (body.part.text !== "") this.#flaw("a content part was added with text");
      list.push({ text: "", annotations: [], done: undefined, closed: undefined });
      return;
    }
    const part = list[index];
    if (!part || part.closed) {
      this.#flaw(`content part ${index} is done, but it is not open`);
      return;
    }
    if (part.done === undefined) this.#flaw(`content part ${index} is done before its text`);
    if (body.part.text !== part.text) this.#flaw(`a content part is done with a text that was not streamed`);
    if ("annotations" in body.part && !isDeepStrictEqual(body.part.annotations, part.annotations))
      this.#flaw("a content part is done with annotations that were not streamed");
    part.closed = body.part;
  }

  #text(type: string, open: OpenItem, body: Wire): void {
    const kinds =
      open.item.type === "reasoning" ? /^response\.reasoning_(summary_)?text\./ : /^response\.output_text\./;
    if (!kinds.test(type)) this.#flaw(`'${type}' does not belong to an item of type '${open.item.type}'`);
    const { list, index } = this.#place(type, open, body);
    const part = list[index];
    if (!part || part.done !== undefined) {
      this.#flaw(`'${type}' names content part ${index}, which is not open`);
      return;
    }
    if (type.endsWith(".delta")) {
      if (body.delta === "") this.#flaw("a delta is empty");
      part.text += body.delta;
      return;
    }
    if (type.endsWith(".annotation.added")) {
      if (body.annotation_index !== part.annotations.length) this.#flaw("annotations are out of order");
      part.annotations.push(body.annotation);
      return;
    }
    part.done = body.text;
    if (body.text !== part.text)
      this.#flaw(
        `the deltas add up to ${JSON.stringify(part.text)}, but done says ${JSON.stringify(body.text)}`,
      );
  }

  #arguments(type: string, open: OpenItem, body: Wire, done: string): void {
    if (!type.startsWith(`response.${open.item.type}_`))
      this.#flaw(`'${type}' does not belong to an item of type '${open.item.type}'`);
    const { arguments: given, item } = open;
    if (given.done !== undefined) this.#flaw(`'${type}' came after the arguments of '${item.id}' were done`);
    if (type.endsWith(".delta")) {
      given.text += body.delta;
      given.deltas++;
      return;
    }
    given.done = done;
    if (given.deltas === 0) this.#flaw(`the arguments of '${item.id}' are done without a delta`);
    if (given.text !== done)
      this.#flaw(`the deltas add up to ${JSON.stringify(given.text)}, but done says ${JSON.stringify(done)}`);
    if (item.type === "function_call" && body.name !== item.name)
      this.#flaw(
        `the arguments of '${item.id}' are done for '${body.name}', but the call is to '${item.name}'`,
      );
  }

  #done(open: OpenItem, item: Wire): void {
    open.closed = item;
    const { item: added, parts } = open;
    if (item.type !== added.type) this.#flaw(`the item '${item.id}' was added as '${added.type}'`);
    if (item.type === "mcp_approval_request") {
      if (!isDeepStrictEqual(item, added)) this.#flaw(`the request '${item.id}' is done as another`);
      return;
    }
    if (item.type === "mcp_list_tools") {
      const ends = item.error === null ? "completed" : "failed";
      if (!isDeepStrictEqual(open.steps, ["in_progress", ends]))
        this.#flaw(`the list '${item.id}' is done after [${open.steps.join(", ")}]`);
      return;
    }
    if (!["completed", "incomplete", "failed"].includes(item.status) && !withoutStatus.includes(item.type))
      this.#flaw(`the item '${item.id}' is done with the status '${item.status}'`);
    if ([...parts, ...open.summary].some(({ closed }) => !closed))
      this.#flaw(`the item '${item.id}' is done before its content parts`);
    if (
      "summary" in item &&
      !isDeepStrictEqual(
        item.summary,
        open.summary.map(({ closed }) => closed),
      )
    )
      this.#flaw(`the item '${item.id}' is done with a summary that is not its parts`);
    const content = parts.map(({ closed }) => closed);
    if ("content" in item && !isDeepStrictEqual(item.content, content))
      this.#flaw(`the item '${item.id}' is done with content that is not its parts`);
    const given = item.arguments ?? item.input ?? item.code;
    if (given === undefined) return;
    if (given !== open.arguments.done)
      this.#flaw(`the item '${item.id}' is done with arguments that were not streamed`);
    if (item.name !== added.name) this.#flaw(`the item '${item.id}' has changed its name`);
    if (item.namespace !== added.namespace) this.#flaw(`the item '${item.id}' has changed its namespace`);
    if (item.call_id !== added.call_id) this.#flaw(`the item '${item.id}' has changed its call_id`);
    if (item.type === "mcp_call") this.#mcpCall(open, item);
  }

  #mcpCall({ steps }: OpenItem, item: Wire): void {
    const ends = item.status === "completed" ? "completed" : "failed";
    if (!isDeepStrictEqual(steps, ["in_progress", ends]))
      this.#flaw(
        `the call '${item.id}' is done with the status '${item.status}' after [${steps.join(", ")}]`,
      );
    if (item.status === "completed" && (item.error !== null || typeof item.output !== "string"))
      this.#flaw(`the call '${item.id}' is completed, but has no output, or has an error`);
  }

  #flaw(what: string): void {
    this.flaws.push(`event ${this.#at}: ${what}`);
  }
}
