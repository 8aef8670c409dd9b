// Holds the history of a simulation against what must be true whatever failed.

import { streamFlaws } from "../../conformance/testkit/stream-checker.ts";
import { isTerminal } from "../../protocol/status.ts";
import { type Story, toolNames } from "../../soak/testkit/story.ts";
import type { ConversationEntry } from "../../store/conversation-store.ts";
import type { Execution, History, Reading, ResponseFacts } from "./history.ts";
import { askedTool, sayings } from "./story-tools.ts";

/** How long a run that was lost may go on after its process could have known. */
const abortMs = 5000;
/** How late the last event may come to a reader. */
const mostLateMs = 10_000;

export function historyFlaws(
  history: History,
  conversations: ReadonlyMap<string, readonly ConversationEntry[]>,
): string[] {
  const responses = [...history.responses.values()];
  return [
    ...history.flaws,
    ...responses.flatMap(responseFlaws),
    ...lostFlaws(history),
    ...history.readings.flatMap((reading) => readingFlaws(reading, history)),
    ...history.readings.flatMap((reading) => lateFlaws(reading, history)),
    ...callFlaws(history),
    ...zombieFlaws(history),
    ...[...conversations].flatMap(([id, entries]) => conversationFlaws(id, entries, history)),
    ...chainFlaws(history),
  ];
}

/** Every response ends, its log is one sequence, and it ends as it must. */
function responseFlaws(response: ResponseFacts): string[] {
  const { id, log, status, errorCode, isRemoved, isBackground, cancelledAtMs } = response;
  const flaws: string[] = [];
  if (!isTerminal(status) && !isRemoved) flaws.push(`never ended, and is ${status}`);
  const isExpected =
    status === "completed" ||
    isRemoved ||
    (status === "cancelled" && cancelledAtMs !== undefined) ||
    (!isBackground &&
      ((status === "failed" && errorCode === "interrupted") ||
        status === "incomplete" ||
        status === "cancelled"));
  if (isTerminal(status) && !isExpected) flaws.push(`ended as ${status} (${errorCode})`);
  if (isBackground || log.length > 0) {
    const events = log.map((data) => JSON.parse(data) as { type: string });
    const frames = events.map((data) => ({ event: data.type, data }));
    const isCut = isRemoved || !isTerminal(status);
    const end = isCut ? [] : [{ event: undefined, data: "[DONE]" }];
    flaws.push(...streamFlaws([...frames, ...end], { isCut }).map((flaw) => `log: ${flaw}`));
  }
  return flaws.map((flaw) => `${id}: ${flaw}`);
}

/** What was acknowledged is there. */
function lostFlaws({ acknowledged, responses }: History): string[] {
  return [...acknowledged].flatMap((id) =>
    responses.has(id) ? [] : [`${id} was acknowledged, but is not kept`],
  );
}

/** A reader has a part of the log, without gaps, that begins where it asked. */
function readingFlaws({ responseId, after, events }: Reading, { responses }: History): string[] {
  const log = responses.get(responseId)?.log ?? [];
  // A foreground stream without a log is checked as it came.
  const isLogged = log.length > 0;
  const wrong = events.findIndex(
    ({ sequence, data }, index) => sequence !== after + 1 + index || (isLogged && log[sequence] !== data),
  );
  if (wrong < 0) return [];
  const { sequence, data } = events[wrong] as { sequence: number; data: string };
  const expected = after + 1 + wrong;
  return [
    sequence === expected
      ? `${responseId}: a reader got another event ${sequence} than was kept: ${data.slice(0, 120)}`
      : `${responseId}: a reader got the event ${sequence} instead of ${expected}`,
  ];
}

/** While nothing fails, a reader gets the end of a response soon: lost news are made up for. */
function lateFlaws({ responseId, lastAtMs }: Reading, { responses, frozen, outOfTouch }: History): string[] {
  const { endedAtMs = Infinity } = responses.get(responseId) ?? {};
  const isTrouble = [...frozen, ...outOfTouch].some(
    ({ fromMs, untilMs }) => untilMs > endedAtMs - 30_000 && fromMs < lastAtMs,
  );
  return lastAtMs - endedAtMs > mostLateMs && !isTrouble
    ? [`${responseId}: a reader got its end ${lastAtMs - endedAtMs} ms late`]
    : [];
}

/** A call whose result was kept does not run again; one that must not be repeated runs once. */
function callFlaws({ executions, responses }: History): string[] {
  return [...Map.groupBy(executions, ({ key }) => key)].flatMap(([key, runs]) => {
    const [first] = runs as [Execution];
    const about = `${key}: ${first.tool}`;
    const isOnce = first.tool === askedTool || (toolNames.once as readonly string[]).includes(first.tool);
    if (isOnce && runs.length > 1) return [`${about} ran ${runs.length} times`];
    const facts = responses.get(first.responseId);
    const finishedAtMs = facts?.finishedCalls.get(key);
    if (!facts || finishedAtMs === undefined) return [];
    return runs.flatMap(({ startedAtMs, life }) => {
      // A process that does not know yet that it lost the run is another matter.
      const holder = facts.leases.findLast(({ atMs }) => atMs <= startedAtMs)?.life;
      return startedAtMs > finishedAtMs && holder === life
        ? [`${about} ran again, ${startedAtMs - finishedAtMs} ms after its result was kept`]
        : [];
    });
  });
}

/** A process that lost a run stops its tools soon. */
function zombieFlaws({ executions, responses, frozen, outOfTouch }: History): string[] {
  return executions.flatMap(({ responseId, life, startedAtMs, endedAtMs, tool }) => {
    const facts = responses.get(responseId);
    const own = facts?.leases.findLast((lease) => lease.life === life && lease.atMs <= startedAtMs);
    const next = own && facts?.leases.find(({ fence }) => fence > own.fence);
    if (!next || endedAtMs === undefined || next.life === life) return [];
    const pauses = frozen.filter((it) => it.life === life && it.untilMs > next.atMs && it.fromMs < endedAtMs);
    const isOutOfTouch = outOfTouch.some(
      (it) => (it.life ?? life) === life && it.untilMs > next.atMs && it.fromMs < endedAtMs,
    );
    const knownAtMs = Math.max(
      next.atMs,
      startedAtMs,
      ...pauses.map(({ untilMs }) => untilMs),
      // Without the database it can only wait until its lease must have expired.
      isOutOfTouch ? own.longestMs : 0,
    );
    return endedAtMs - knownAtMs > abortMs
      ? [`${responseId}: ${tool} ran for ${endedAtMs - knownAtMs} ms on ${life} after the run was lost`]
      : [];
  });
}

/** The responses of a conversation come one after the other, each with all before it, in the order of their creation. */
function conversationFlaws(id: string, entries: readonly ConversationEntry[], history: History): string[] {
  const blocks: { responseId: string; items: ConversationEntry["item"][] }[] = [];
  for (const { responseId, item } of entries) {
    if (blocks.at(-1)?.responseId !== responseId) blocks.push({ responseId: responseId ?? "", items: [] });
    blocks.at(-1)?.items.push(item);
  }
  const flaws: string[] = [];
  const ids = blocks.map(({ responseId }) => responseId);
  if (new Set(ids).size < ids.length) flaws.push(`the items of responses are mixed: ${ids.join(", ")}`);
  const serials = ids.map((it) => history.responses.get(it)?.serial ?? 0);
  if (serials.some((serial, index) => serial < (serials[index - 1] ?? 0)))
    flaws.push(`its responses are in the order ${serials.join(", ")}`);
  const said: string[] = [];
  for (const { items } of blocks) {
    const [story] = sayings(items.slice(0, 1).map(toMessage));
    const name = story?.slice("user ".length);
    const prompt = history.prompts.findLast((it) => it.story === name);
    if (prompt && prompt.before.join() !== said.join())
      flaws.push(`${name} was told after [${prompt.before.join()}] instead of [${said.join()}]`);
    said.push(...sayings(items.map(toMessage)));
  }
  return flaws.map((flaw) => `${id}: ${flaw}`);
}

/** A response after another one has read it. */
function chainFlaws({ responses, prompts }: History): string[] {
  return [...responses.values()].flatMap(({ id, previous, input }) => {
    const before = previous === undefined ? undefined : responses.get(previous);
    const name = storyName(input[0]);
    const prompt = prompts.findLast(({ story }) => story === name);
    const expected = before && storyName(before.input[0]);
    if (!prompt || expected === undefined || prompt.before.includes(`end ${expected}`)) return [];
    return [`${id}: ${name} was told after [${prompt.before.join()}], without the end of ${expected}`];
  });
}

function storyName(item: unknown): string | undefined {
  const message = toMessage(item);
  if (message.role !== "user") return undefined;
  return (JSON.parse(message.content) as Story).name;
}

function toMessage(item: unknown): { role: "user" | "assistant" | "tool"; content: string } {
  const { type, role, content } = item as { type?: string; role?: string; content?: unknown };
  const text =
    typeof content === "string"
      ? content
      : (content as { text?: string }[] | undefined)?.map((it) => it.text ?? "").join("");
  if (type !== "message" && type !== undefined) return { role: "tool", content: "" };
  return { role: role === "user" ? "user" : "assistant", content: text ?? "" };
}
