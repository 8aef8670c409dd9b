// Many stored responses: made side by side, listed page by page, read one by one, and chained one to the other.

import { isDeepStrictEqual } from "node:util";
import type { ResponseObject } from "../../protocol/response.ts";
import { requestFor } from "./clients.ts";
import { getJson, post } from "./follower.ts";
import { allResponses } from "./review.ts";
import { endOf, type Story } from "./story.ts";

export interface StoreTrialOptions {
  /** A server with an empty store and the model of `startStoryModel()`. */
  readonly url: string;
  /** How many responses are stored. */
  readonly count: number;
  /** How many of them are one chain. */
  readonly chain: number;
  /** Told what was done, how often and in which time. */
  readonly onStep?: (what: string, count: number, seconds: number) => void;
}

const clientCount = 32;

/** Gives what is wrong. Throws when a request is refused. */
export async function runStoreTrial({ url, count, chain, onStep }: StoreTrialOptions): Promise<string[]> {
  const flaws: string[] = [];
  const made = new Map<string, ResponseObject>();
  const step = async (what: string, times: number, work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    onStep?.(what, times, (performance.now() - start) / 1000);
  };
  const make = async (index: number, previous?: string) => {
    const story = { name: `stored ${index}`, seed: index, steps: 0, length: 5, paceMs: 0, toolMs: 0 };
    const response = await create(url, story, previous);
    const end = response.output.at(-1);
    const text = end?.type === "message" ? end.content[0]?.text : undefined;
    if (text !== endOf(story)) flaws.push(`'${story.name}' has ended with ${JSON.stringify(response)}`);
    made.set(response.id, response);
    return response.id;
  };

  const alone = Array.from({ length: count - chain }, (_, index) => index);
  await step("made", alone.length, () => sideBySide(alone, async (index) => void (await make(index))));
  let previous: string | undefined;
  await step("chained", chain, async () => {
    for (let index = count - chain; index < count; index++) previous = await make(index, previous);
  });
  await step("listed", count, async () => {
    const listed = await Array.fromAsync(allResponses(url));
    const ids = new Set(listed.map(({ id }) => id));
    if (listed.length !== count || ids.size !== count)
      flaws.push(`${listed.length} responses are listed, ${ids.size} different ones, instead of ${count}`);
    const isSorted = listed.every((it, at) => at === 0 || it.created_at <= (listed[at - 1]?.created_at ?? 0));
    if (!isSorted) flaws.push("the list is not in its order");
    for (const response of listed)
      if (!isDeepStrictEqual(response, made.get(response.id)))
        flaws.push(`'${response.id}' is listed in another way than it was answered`);
  });
  await step("read", count, () =>
    sideBySide([...made], async ([id, response]) => {
      if (!isDeepStrictEqual(await getJson(url, `/responses/${id}`), response))
        flaws.push(`'${id}' is kept in another way than it was answered`);
    }),
  );
  return flaws;
}

async function create(url: string, story: Story, previous: string | undefined): Promise<ResponseObject> {
  const answer = await post(url, {
    ...requestFor(story),
    ...(previous !== undefined && { previous_response_id: previous }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`'${story.name}' was refused with ${answer.status}: ${text}`);
  return JSON.parse(text) as ResponseObject;
}

/** Does the work for all, a few at a time. */
async function sideBySide<T>(list: readonly T[], work: (it: T) => Promise<void>): Promise<void> {
  const left = list.values();
  const worker = async () => {
    for (const it of left) await work(it);
  };
  await Promise.all(Array.from({ length: clientCount }, worker));
}
