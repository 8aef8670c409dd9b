// Tools that write down, beyond doubt, when they were started and when they had done their work.

import { fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type AnyTool, type ToolContext, tool } from "rondo";
import type { EntryInput } from "./story.ts";

/** A line of the file of effects. */
export interface Effect extends EntryInput {
  readonly type: "started" | "ended";
  readonly tool: string;
  /** The idempotency key that the tool was given. */
  readonly key: string;
  /** Names this one run of the function; its result carries it. */
  readonly mark: string;
}

/** What a run of a tool returns. */
export function resultOf(mark: string): string {
  return `written as ${mark}`;
}

export function readEffects(file: string): Effect[] {
  const lines = readFileSync(file, { encoding: "utf8", flag: "a+" }).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Effect);
}

const input = { story: String, step: Number, place: Number, ms: Number };

/** The tools of `toolNames`. `onEffect` hears of each line when it is on the disk. */
export function entryTools(file: string, onEffect: (effect: Effect) => void): AnyTool[] {
  const descriptor = openSync(file, "a", 0o600);
  let count = 0;
  const write = (effect: Effect) => {
    writeSync(descriptor, `${JSON.stringify(effect)}\n`);
    fsyncSync(descriptor);
    onEffect(effect);
  };
  const begin = (name: string, given: EntryInput, { idempotencyKey: key }: ToolContext) => {
    const mark = `${process.pid}.${++count}`;
    const about = { tool: name, key, mark, ...given };
    write({ type: "started", ...about });
    return () => {
      write({ type: "ended", ...about });
      return resultOf(mark);
    };
  };
  const make = (name: string, options: { isSlow: boolean; isRepeatable: boolean }) =>
    tool(
      { name, description: "Writes an entry.", input, registry: false, idempotent: options.isRepeatable },
      async (given: EntryInput, context: ToolContext) => {
        const end = begin(name, given, context);
        if (options.isSlow) await wait(given.ms);
        return end();
      },
    );
  const makeStreamed = (name: string, options: { isRepeatable: boolean }) =>
    tool(
      {
        name,
        description: "Writes an entry, bit by bit.",
        input,
        registry: false,
        idempotent: options.isRepeatable,
      },
      async function* (given: EntryInput, context: ToolContext) {
        const end = begin(name, given, context);
        for (let bit = 0; bit < 4; bit++) {
          await wait(given.ms / 4);
          yield `bit ${bit}`;
        }
        return end();
      },
    );
  return [
    make("look_up", { isSlow: true, isRepeatable: true }),
    makeStreamed("look_up_streamed", { isRepeatable: true }),
    make("add_entry", { isSlow: false, isRepeatable: false }),
    make("add_entry_slowly", { isSlow: true, isRepeatable: false }),
    makeStreamed("add_entry_streamed", { isRepeatable: false }),
  ];
}
