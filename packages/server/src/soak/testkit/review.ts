// Reads everything that a server has kept, after its last start, and holds it against what clients and tools saw.

import { isDeepStrictEqual } from "node:util";
import type { Frame } from "../../conformance/testkit/frames.ts";
import { streamFlaws } from "../../conformance/testkit/stream-checker.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import type { Effect } from "./entry-tools.ts";
import { getJson, readFrames } from "./follower.ts";
import { isUnknown, runFlaws } from "./run-flaws.ts";
import type { Story } from "./story.ts";
import type { StoryModel } from "./story-model.ts";

export interface Figures {
  /** Background runs that a client followed, and those whose client never heard of them. */
  readonly followed: number;
  readonly orphaned: number;
  readonly events: number;
  /** Answers that were cut and made again. */
  readonly cutAnswers: number;
  /** Calls whose outcome was told to be unknown, and calls that were run again. */
  readonly unknownCalls: number;
  readonly repeatedCalls: number;
  readonly foreground: number;
  readonly foregroundInterrupted: number;
}

/** What a client read of a response. */
export interface ReadResponse {
  readonly id: string | undefined;
  readonly frames: readonly Frame[];
}

export interface ReviewOptions {
  readonly url: string;
  readonly followed: readonly ReadResponse[];
  readonly foreground: readonly ReadResponse[];
  /** Whether several processes worked at a time, one of which may have been frozen. Default: false. */
  readonly hasSeveralNodes?: boolean;
  readonly effects: readonly Effect[];
  readonly model: StoryModel;
}

export async function review(options: ReviewOptions): Promise<{ flaws: string[]; figures: Figures }> {
  const { url, followed, foreground, effects, model, hasSeveralNodes = false } = options;
  const flaws: string[] = [];
  const followers = new Map([...followed, ...foreground].map((follower) => [follower.id, follower]));
  const effectsOf = Map.groupBy(effects, ({ story }) => story);
  let events = 0;
  let background = 0;
  let cutAnswers = 0;
  let unknownCalls = 0;
  let interrupted = 0;
  const ids = new Set<string>();
  for await (const response of allResponses(url)) {
    const { id } = response;
    ids.add(id);
    const frames = followers.get(id)?.frames;
    if (!response.background) {
      flaws.push(...foregroundFlaws(response, frames));
      if (response.status === "failed") interrupted++;
      continue;
    }
    const story = await storyOf(url, id);
    const replayed: Frame[] = [];
    await readFrames(await fetch(`${url}/v1/responses/${id}?stream=true`), (frame) => replayed.push(frame));
    flaws.push(
      ...runFlaws({
        story,
        response: await getJson(url, `/responses/${id}`),
        followed: frames,
        replayed,
        effects: effectsOf.get(story.name) ?? [],
        conversation: model.lastConversation.get(story.name),
        hasSeveralNodes,
      }),
    );
    background++;
    events += replayed.length;
    cutAnswers += response.output.filter((item) => "status" in item && item.status === "incomplete").length;
    unknownCalls += response.output.filter((item) => item.type === "mcp_call" && isUnknown(item)).length;
  }
  for (const id of followers.keys())
    if (id === undefined || !ids.has(id)) flaws.push(`the response '${id}' was told, but is not kept`);
  const starts = effects.filter(({ type }) => type === "started");
  flaws.push(...keyFlaws(starts));
  return {
    flaws,
    figures: {
      followed: followed.length,
      orphaned: background - followed.length,
      events,
      cutAnswers,
      unknownCalls,
      repeatedCalls: starts.length - new Set(starts.map(({ key }) => key)).size,
      foreground: foreground.length,
      foregroundInterrupted: interrupted,
    },
  };
}

/** All responses of a server, newest first, page by page. */
export async function* allResponses(url: string): AsyncGenerator<ResponseObject> {
  let after = "";
  while (true) {
    const page: { data: ResponseObject[]; has_more: boolean; last_id: string } = await getJson(
      url,
      `/responses?limit=100${after}`,
    );
    yield* page.data;
    if (!page.has_more) return;
    after = `&after=${page.last_id}`;
  }
}

async function storyOf(url: string, id: string): Promise<Story> {
  const { data } = await getJson<{ data: { content: unknown }[] }>(url, `/responses/${id}/input_items`);
  const content = data[0]?.content;
  const text = typeof content === "string" ? content : (content as { text: string }[])[0]?.text;
  return JSON.parse(text ?? "") as Story;
}

/** A foreground run ends with its connection; but what was told to be done is kept. */
function foregroundFlaws(response: ResponseObject, frames: readonly Frame[] = []): string[] {
  const isCut = frames.at(-1)?.data !== "[DONE]";
  const flaws = streamFlaws(frames, { isCut });
  const { status, error } = response;
  const isInterrupted = status === "failed" && error?.code === "interrupted";
  if (status !== "completed" && !(isCut && isInterrupted))
    flaws.push(`a foreground run is '${status}': ${JSON.stringify(error)}`);
  for (const { event, data } of frames) {
    if (event !== "response.output_item.done") continue;
    const { item } = data as { item: { id: string } };
    const kept = response.output.find(({ id }) => id === item.id);
    if (!isDeepStrictEqual(kept, item))
      flaws.push(`${JSON.stringify(item)} was done, but kept is ${JSON.stringify(kept)}`);
  }
  return flaws.map((flaw) => `${response.id}: ${flaw}`);
}

/** No key may ever be used for two calls: a tool that trusts it would leave out the second one. */
function keyFlaws(starts: readonly Effect[]): string[] {
  const byKey = Map.groupBy(starts, ({ key }) => key);
  return [...byKey].flatMap(([key, list]) => {
    const calls = new Set(list.map(({ story, step, place }) => `${story}.${step}.${place}`));
    return calls.size > 1 ? [`the key ${key} was used for ${[...calls].join(" and ")}`] : [];
  });
}
