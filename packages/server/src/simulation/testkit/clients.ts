// What clients do: background and foreground responses, chains, conversations, cancels, deletes, approvals; each request
// goes to any node, and streams are read on to their end whatever happens.

import { ApiError } from "../../protocol/api-error.ts";
import type { StreamEvent } from "../../protocol/events.ts";
import { newId } from "../../protocol/ids.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { isTerminal } from "../../protocol/status.ts";
import { type Cluster, ConnectionLost, type Contact, sinkFor } from "./cluster.ts";
import type { Reading } from "./history.ts";
import type { Service } from "./node.ts";
import type { SimStory } from "./story-tools.ts";

const owner = "ada";

export class Clients {
  readonly #cluster: Cluster;
  #stories = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** One of the things that clients do, chosen at random, to its end. */
  async act(): Promise<void> {
    const { chance } = this.#cluster.network.world;
    const acts = [
      () => this.#background(),
      () => this.#background(),
      () => this.#chain(),
      () => this.#conversation(),
      () => this.#conversation(),
      () => this.#cancel(),
      () => this.#remove(),
      () => this.#foreground(),
      () => this.#stream(),
      () => this.#approval(),
    ];
    await this.#cluster.network.world.sleep(chance.integer(0, 3000));
    await chance.pick(acts)();
  }

  async #background(): Promise<void> {
    const { id } = await this.#enqueue(this.#request());
    await Promise.all([this.#follow(id), this.#mayFollowAgain(id)]);
  }

  /** Another client reads some of the stream later, from anywhere. */
  async #mayFollowAgain(id: string): Promise<void> {
    const { world } = this.#cluster.network;
    if (world.chance.integer(0, 1) === 0) return;
    await world.sleep(world.chance.integer(0, 4000));
    await this.#follow(id, world.chance.integer(-1, 12));
  }

  async #chain(): Promise<void> {
    let previous: string | undefined;
    for (let length = this.#integer(2, 3); length > 0; length--) {
      const { id } = await this.#enqueue({
        ...this.#request(),
        ...(previous !== undefined && { previous_response_id: previous }),
      });
      await this.#follow(id);
      previous = id;
    }
  }

  async #conversation(): Promise<void> {
    const made = await this.#cluster.ask(({ conversations }) => conversations.create(owner, {}));
    const one = async () => {
      const body = { ...this.#request(), conversation: made.id };
      if (this.#integer(0, 2) === 0) return this.#plain(body);
      const { id } = await this.#enqueue(body);
      await this.#follow(id);
    };
    const pending: Promise<void>[] = [];
    for (let count = this.#integer(2, 4); count > 0; count--) {
      const sent = one();
      sent.catch(() => {}); // it is looked at below
      if (this.#integer(0, 1) === 0) await sent;
      else pending.push(sent);
    }
    await Promise.all(pending);
  }

  async #cancel(): Promise<void> {
    const { world } = this.#cluster.network;
    const { id } = await this.#enqueue(this.#request());
    const followed = this.#follow(id);
    await world.sleep(this.#integer(0, 6000));
    await this.#cluster.ask(({ responses }) => responses.cancel(owner, id));
    await followed;
  }

  async #remove(): Promise<void> {
    const { id } = await this.#enqueue(this.#request());
    const followed = this.#follow(id);
    await this.#cluster.network.world.sleep(this.#integer(0, 6000));
    await this.#cluster
      .ask(({ responses }) => responses.remove(owner, id))
      .catch((error: unknown) => {
        // It was removed by a request whose reply was lost.
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
      });
    await followed;
  }

  async #foreground(): Promise<void> {
    await this.#plain(this.#request());
  }

  /** A foreground stream. With a key it is found again on another node; without one it may end with its process. */
  async #stream(): Promise<void> {
    const { history } = this.#cluster.network;
    const body = { ...this.#request(), background: false, stream: true };
    const repeatKey = keyFor(body);
    let reading: Reading | undefined;
    await this.#cluster.ask(async ({ responses }, contact) => {
      const take = (data: string) => {
        const event = JSON.parse(data) as StreamEvent;
        if ("response" in event && !reading) {
          reading = { responseId: event.response.id, after: -1, events: [], lastAtMs: 0 };
          history.acknowledged.add(event.response.id);
          history.readings.push(reading);
        }
        // The last words of a process that cannot keep the run are not in the log: the client asks again.
        if (event.type === "error" || event.type === "response.failed") return;
        // Asked again, it begins again.
        if (event.sequence_number >= (reading?.events.length ?? 0))
          reading?.events.push({ sequence: event.sequence_number, data });
      };
      const sink = sinkFor(contact, take);
      const found = await responses.findRepeated(owner, repeatKey);
      if (found !== undefined) return responses.follow(owner, found, -1, sink, contact.gone);
      return responses.runStreamed(await responses.prepare(owner, body, { repeatKey }), sink, contact.gone);
    });
  }

  async #approval(): Promise<void> {
    const story = { ...this.#story(), steps: 1, isAsked: true };
    const tools = [{ type: "sim.entry" }];
    const { id } = await this.#enqueue({
      model: "story",
      input: JSON.stringify(story),
      background: true,
      tools,
    });
    await this.#follow(id);
    const { output } = await this.#cluster.ask(({ responses }) => responses.get(owner, id));
    const asked = output.find(({ type }) => type === "mcp_approval_request");
    if (!asked) return this.#flaw(`${id} has no request for approval`);
    const approval = { type: "mcp_approval_response", approval_request_id: asked.id, approve: true };
    const next = await this.#enqueue({
      model: "story",
      input: [approval],
      previous_response_id: id,
      background: true,
      tools,
    });
    await this.#follow(next.id);
  }

  /** A foreground request that is repeated with its key until there is an end. */
  async #plain(body: object): Promise<void> {
    const { history } = this.#cluster.network;
    const { background: _, ...foreground } = body as { background?: boolean };
    const repeatKey = keyFor(foreground);
    try {
      const { id } = await this.#cluster.ask(async ({ responses }, { gone }) => {
        const found = await responses.findRepeated(owner, repeatKey);
        if (found !== undefined) return responses.repeat(owner, found, gone);
        return responses.runPlain(await responses.prepare(owner, foreground, { repeatKey }), gone);
      });
      history.acknowledged.add(id);
    } catch (error) {
      // Its process died, and a foreground run ends with that.
      if (!(error instanceof ApiError) || error.code !== "interrupted") throw error;
    }
  }

  async #enqueue(body: object): Promise<ResponseObject> {
    const { history } = this.#cluster.network;
    const repeatKey = keyFor(body);
    const response = await this.#cluster.ask(async ({ responses }) => {
      const found = await responses.findRepeated(owner, repeatKey);
      if (found !== undefined) return responses.get(owner, found);
      return responses.enqueue(await responses.prepare(owner, body, { repeatKey }));
    });
    history.acknowledged.add(response.id);
    return response;
  }

  /** Reads a stream to its end, each time on another node, from the event after the last one. */
  async #follow(id: string, after = -1): Promise<void> {
    const { history, world } = this.#cluster.network;
    const reading: Reading = { responseId: id, after, events: [], lastAtMs: 0 };
    history.readings.push(reading);
    const end = { isOver: false };
    const take = (data: string) => {
      const event = JSON.parse(data) as StreamEvent;
      reading.events.push({ sequence: event.sequence_number, data });
      reading.lastAtMs = world.nowMs;
      end.isOver ||= "response" in event && isTerminal(event.response.status);
    };
    const read = async ({ responses }: Service, contact: Contact) => {
      const last = reading.events.at(-1)?.sequence ?? after;
      await responses.follow(owner, id, last, sinkFor(contact, take), contact.gone);
      return responses.get(owner, id);
    };
    while (!end.isOver) {
      try {
        const { status } = await this.#cluster.ask(read);
        // It was asked for an event after the end.
        if (isTerminal(status)) return;
        if (!end.isOver) this.#flaw(`a stream of ${id} ended while the response was ${status}`);
        return;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return; // it was removed
        if (!(error instanceof ConnectionLost)) throw error;
        await world.sleep(100);
      }
    }
  }

  #request() {
    return { model: "story", input: JSON.stringify(this.#story()), background: true };
  }

  #story(): SimStory {
    const isLong = this.#integer(0, 5) === 0;
    return {
      name: `story${++this.#stories}`,
      seed: this.#integer(0, 1_000_000),
      steps: this.#integer(0, 2),
      length: this.#integer(2, 6),
      paceMs: 80,
      toolMs: isLong ? 30_000 : 600,
    };
  }

  #integer(low: number, high: number): number {
    return this.#cluster.network.world.chance.integer(low, high);
  }

  #flaw(text: string): void {
    this.#cluster.network.history.flaws.push(text);
  }
}

function keyFor(body: object) {
  return { key: newId("key"), fingerprint: JSON.stringify(body) };
}
