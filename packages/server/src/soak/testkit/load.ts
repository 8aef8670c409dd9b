// Many clients at once: streamed, plain, and in the background, all with tools, all open at one moment.

import type { Frame } from "../../conformance/testkit/frames.ts";
import { streamFlaws } from "../../conformance/testkit/stream-checker.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { requestFor } from "./clients.ts";
import { post, readFrames } from "./follower.ts";
import { Gate } from "./gate.ts";
import { callsOf, endOf, type Story } from "./story.ts";
import type { StoryModel } from "./story-model.ts";

export interface LoadOptions {
  readonly url: string;
  readonly model: StoryModel;
  readonly count: number;
  /** Called while all are open. */
  readonly whileOpen?: () => Promise<void>;
}

export interface LoadReport {
  readonly flaws: readonly string[];
  readonly events: number;
}

/** Runs `count` requests side by side. Each reaches the middle of its last answer before any may end. */
export async function runLoad({ url, model, count, whileOpen }: LoadOptions): Promise<LoadReport> {
  const gate = new Gate();
  model.gateOf = () => gate;
  const requests = Promise.all(Array.from({ length: count }, (_, index) => request(url, index)));
  try {
    await Promise.race([gate.holds(count), requests]);
    await whileOpen?.();
  } finally {
    gate.open();
    model.gateOf = () => undefined;
  }
  const results = await requests;
  model.lastConversation.clear();
  // Connections that are kept for a while would look like memory that is kept for ever.
  model.closeIdle();
  return {
    flaws: results.flatMap(({ flaws }) => flaws),
    events: results.reduce((sum, { events }) => sum + events, 0),
  };
}

const kinds = [
  { stream: true },
  { stream: true, background: true },
  { stream: true, store: false },
  { stream: false },
] as const;

/** Makes a request, and gives what is wrong with its answer. */
async function request(url: string, index: number): Promise<{ flaws: string[]; events: number }> {
  const story = {
    name: `load ${index}`,
    seed: index,
    steps: 1 + (index % 2),
    length: 30,
    paceMs: 2,
    toolMs: 5,
  };
  const kind = kinds[index % kinds.length] ?? kinds[0];
  const answer = await post(url, { ...requestFor(story), ...kind });
  if (!kind.stream) {
    const text = await answer.text();
    if (!answer.ok) return { flaws: [`${answer.status} ${text}`], events: 0 };
    return { flaws: responseFlaws(story, JSON.parse(text) as ResponseObject), events: 0 };
  }
  const frames: Frame[] = [];
  await readFrames(answer, (frame) => frames.push(frame));
  const last = frames.at(-2)?.data as { response?: ResponseObject } | undefined;
  return {
    flaws: [...streamFlaws(frames), ...responseFlaws(story, last?.response)],
    events: frames.length,
  };
}

function responseFlaws(story: Story, response: ResponseObject | undefined): string[] {
  const calls = response?.output.filter((item) => item.type === "mcp_call" && item.status === "completed");
  const end = response?.output.at(-1);
  const text = end?.type === "message" ? end.content[0]?.text : undefined;
  if (response?.status === "completed" && calls?.length === callsOf(story).length && text === endOf(story))
    return [];
  return [`'${story.name}' has ended with ${JSON.stringify(response)}`];
}
