// What the model says in a run. A story follows from its seed alone, so that the model needs no memory, and the
// test knows beforehand which calls there must be and how the run must end.

import { type Random, random } from "./random.ts";

export interface Story {
  readonly name: string;
  readonly seed: number;
  /** How many answers have calls; one more ends the story. */
  readonly steps: number;
  /** How many pieces the last answer has. */
  readonly length: number;
  /** The longest wait between two pieces, and the longest time of a tool. */
  readonly paceMs: number;
  readonly toolMs: number;
}

export interface StoryCall {
  readonly id: string;
  readonly name: string;
  readonly input: EntryInput;
}

/** The arguments of every tool. Story, step and place say which call it is. */
export interface EntryInput {
  readonly story: string;
  readonly step: number;
  readonly place: number;
  readonly ms: number;
}

export interface Answer {
  readonly thinking: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly StoryCall[];
}

/** The tools that run again after a crash, and those that do not. */
export const toolNames = {
  repeatable: ["look_up", "look_up_streamed"],
  once: ["add_entry", "add_entry_slowly", "add_entry_streamed"],
} as const;

const allTools = [...toolNames.repeatable, ...toolNames.once];

/** What the model says after `step` answers with calls. */
export function answerOf(story: Story, step: number): Answer {
  const { name, seed, steps, length, toolMs } = story;
  const chance = random(seed, step);
  const thinking = words(chance, chance.integer(0, 12), `${name} thinks `);
  if (step >= steps) return { thinking, text: words(chance, length, `${name} ends. `), calls: [] };
  const calls = Array.from({ length: chance.integer(1, 3) }, (_, place): StoryCall => {
    // Some models use the same ids in each answer.
    const id = seed % 2 === 0 ? `call_${place}` : `call_${step}_${place}`;
    const input = { story: name, step, place, ms: chance.integer(0, toolMs) };
    return { id, name: chance.pick(allTools), input };
  });
  return { thinking, text: words(chance, chance.integer(0, 8), `${name} goes on. `), calls };
}

/** All calls of a story, in their order. */
export function callsOf(story: Story): StoryCall[] {
  return Array.from({ length: story.steps }, (_, step) => answerOf(story, step).calls).flat();
}

/** The text with which a run of this story must end. */
export function endOf(story: Story): string {
  return answerOf(story, story.steps).text.join("");
}

function words(chance: Random, count: number, first: string): string[] {
  if (count === 0) return [];
  const rest = Array.from({ length: count - 1 }, () => `${chance.integer(0, 99_999).toString(36)}é `);
  return [first, ...rest];
}
