// Two owners of one server, each with what it knows: its ids, its words, and what it has read so far.

import type { ModelRequest } from "rondo/models";
import type { ScriptedAnswer } from "rondo/testing";

// biome-ignore lint/suspicious/noExplicitAny: tests look into it without ceremony.
type Json = any;

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Send = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** An item that an owner has got. */
interface KnownItem {
  readonly id: string;
  readonly type: string;
}

export class Owner {
  /** Stands in everything that this owner says, and in nothing else. */
  readonly word: string;
  /** The ids of its responses that must be there. */
  readonly responses = new Set<string>();
  readonly items: KnownItem[] = [];
  readonly sealed: string[] = [];
  /** All that it was ever told is its own. */
  readonly ids = new Set<string>();
  readonly #send: Send;

  constructor(word: string, send: Send) {
    this.word = word;
    this.#send = send;
  }

  send(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.#send(method, path, body);
  }

  /** Makes a response, and keeps in mind what it is told. */
  async create(body: object): Promise<Json> {
    const { status, text } = await this.send("POST", "/v1/responses", { model: "test", ...body });
    if (status !== 200) throw new Error(`It was not made: ${status} ${text}`);
    const response = text.startsWith("event:") ? lastResponse(text) : JSON.parse(text);
    this.ids.add(response.id);
    this.responses.add(response.id);
    await this.#learn(response);
    return response;
  }

  async remove(id: string): Promise<void> {
    const { status, text } = await this.send("DELETE", `/v1/responses/${id}`);
    if (status !== 200) throw new Error(`It was not removed: ${status} ${text}`);
    this.responses.delete(id);
  }

  async #learn(response: Json): Promise<void> {
    const { text } = await this.send("GET", `/v1/responses/${response.id}/input_items`);
    for (const item of [...response.output, ...JSON.parse(text).data]) {
      this.ids.add(item.id);
      if (item.type === "message" || item.type === "mcp_call")
        this.items.push({ id: item.id, type: item.type });
      if (item.encrypted_content) this.sealed.push(item.encrypted_content);
    }
  }

  async listed(): Promise<Json[]> {
    const { text } = await this.send("GET", "/v1/responses?limit=100");
    return JSON.parse(text).data;
  }
}

/** The response of the last event. */
function lastResponse(text: string): Json {
  const [, data] =
    text
      .split("\n\n")
      .findLast((frame) => frame.includes('"response":'))
      ?.split("\ndata: ") ?? [];
  return JSON.parse(data ?? "{}").response;
}

const words = /(?:ann|bob)-\d+/g;

/**
 * A model that repeats the owners' words in all that it is given, so that nothing gets into a conversation unseen.
 * It thinks the last one that it was told, calls the clock if it hears "clock", and waits for `gate` if it hears "wait".
 */
export function echo({ messages }: ModelRequest, gate: Promise<void>): ScriptedAnswer {
  const said = [...new Set(JSON.stringify(messages).match(words))].join(" ");
  const last = JSON.stringify(messages.findLast(({ role }) => role === "user") ?? "");
  const [word = "nothing"] = last.match(words) ?? [];
  if (last.includes("clock") && messages.at(-1)?.role === "user")
    return { calls: [{ name: "clock", input: { city: word } }] };
  return { thinking: `I think ${word}.`, text: last.includes("wait") ? ["I wait. ", gate, said] : said };
}
