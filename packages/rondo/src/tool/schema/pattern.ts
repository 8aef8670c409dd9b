// Regular expressions in linear time. `RegExp` backtracks, which may take exponential time; here no instruction of the
// pattern is tried twice at the same position of the text.

import { type CharTest, type PatternNode, parsePattern } from "./pattern-syntax.ts";

/** Spends steps of a budget. Throws when it is exhausted. */
export type Spend = (steps: number) => void;

export type Pattern = (text: string, spend: Spend) => boolean;

/** How many instructions patterns may still have, with repetitions such as `(ab){20}` expanded. */
export interface PatternRoom {
  left: number;
}

/** For all patterns of a schema. */
export const maxInstructions = 10_000;
const maxLength = 4000;
/** A `\\p{…}` has hundreds of ranges, which take `RegExp` as long to compile as many instructions. */
const propertyInstructions = 200;
/** One step of a match takes much less time than a step of a validation. */
const matchStepsPerStep = 4;

type Instruction =
  | { readonly op: "char"; readonly fits: CharTest }
  /** A repeated character, so that `.{1,5000}` does not become thousands of instructions. */
  | { readonly op: "chars"; readonly fits: CharTest; readonly min: number; readonly max: number }
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "edge"; readonly edge: "start" | "end" | "word" | "inside" }
  | { readonly op: "look"; readonly program: Program; readonly isNot: boolean }
  | { readonly op: "done" };

interface Program {
  readonly instructions: Instruction[];
  /** Whether the text is read backwards, for a lookbehind. */
  readonly isBackward: boolean;
}

/** Prepares a pattern. Throws for one that is not valid, too large, or needs to go back (`\1`). */
export function compilePattern(source: string, room: PatternRoom = { left: maxInstructions }): Pattern {
  if (source.length > maxLength)
    throw new Error(`The pattern has ${source.length} characters; at most ${maxLength} are allowed.`);
  const grow = (instructions = 1) => {
    room.left -= instructions;
    if (room.left < 0)
      throw new Error(
        `The pattern ${JSON.stringify(source.slice(0, 60))} is too large, alone or with the others of its schema. Repeat less, or use maxLength.`,
      );
  };
  grow(propertyInstructions * (source.match(/\\p/gi)?.length ?? 0));
  const program = toProgram(parsePattern(source), false, grow);
  return (text, spend) => matches(program, text, undefined, spend);
}

function toProgram(node: PatternNode, isBackward: boolean, grow: () => void): Program {
  const instructions: Instruction[] = [];
  const add = <T extends Instruction>(instruction: T): T => {
    grow();
    instructions.push(instruction);
    return instruction;
  };
  const emit = (part: PatternNode): void => {
    switch (part.kind) {
      case "char":
        add({ op: "char", fits: part.fits });
        break;
      case "edge":
        add({ op: "edge", edge: part.edge });
        break;
      case "look":
        add({ op: "look", program: toProgram(part.node, !part.isAhead, grow), isNot: part.isNot });
        break;
      case "sequence":
        for (const inner of isBackward ? part.nodes.toReversed() : part.nodes) emit(inner);
        break;
      case "choice":
        emitChoice(part.nodes);
        break;
      case "repeat":
        emitRepeat(part.node, part.min, part.max);
    }
  };
  const emitChoice = (nodes: readonly PatternNode[]) => {
    const jumps = nodes.map((inner, index) => {
      const split = index < nodes.length - 1 ? add({ op: "split", first: 0, second: 0 }) : undefined;
      if (split) split.first = instructions.length;
      emit(inner);
      const jump = add({ op: "jump", to: 0 });
      if (split) split.second = instructions.length;
      return jump;
    });
    for (const jump of jumps) jump.to = instructions.length;
  };
  const emitRepeat = (inner: PatternNode, min: number, max: number) => {
    if (inner.kind === "char" && max > 1 && max !== Number.POSITIVE_INFINITY) {
      add({ op: "chars", fits: inner.fits, min, max });
      return;
    }
    if (inner.kind === "char" && min > 1) add({ op: "chars", fits: inner.fits, min, max: min });
    else
      for (let count = 0; count < min; count++) {
        const before = instructions.length;
        emit(inner);
        if (instructions.length === before) break; // empty, however often
      }
    if (max === Number.POSITIVE_INFINITY) {
      const at = instructions.length;
      const split = add({ op: "split", first: at + 1, second: 0 });
      emit(inner);
      add({ op: "jump", to: at });
      split.second = instructions.length;
      return;
    }
    const splits = [];
    for (let count = min; count < max; count++) {
      splits.push(add({ op: "split", first: instructions.length + 1, second: 0 }));
      emit(inner);
    }
    for (const split of splits) split.second = instructions.length;
  };
  emit(node);
  add({ op: "done" });
  return { instructions, isBackward };
}

/** `from` is where the match must begin. Default: anywhere. */
function matches(
  { instructions, isBackward }: Program,
  text: string,
  from: number | undefined,
  spend: Spend,
): boolean {
  const places = text.length + 1;
  const words = Math.ceil((instructions.length * places) / 32);
  spend(words); // before the memory is allocated
  const seen = new Uint32Array(words);
  const open: number[] = [];
  const visit = (instruction: number, place: number) => {
    const key = instruction * places + place;
    const bit = 1 << (key & 31);
    const index = key >>> 5;
    if (((seen[index] as number) & bit) !== 0) return;
    seen[index] = (seen[index] as number) | bit;
    open.push(instruction, place);
  };
  // A dead end is not entered again, not even from another start.
  for (let start = from ?? 0; start < places; start = nextPlace(text, start)) {
    visit(0, start);
    let steps = 0;
    while (open.length > 0) {
      const place = open.pop() as number;
      const at = open.pop() as number;
      const instruction = instructions[at] as Instruction;
      if (++steps % matchStepsPerStep === 0) spend(1);
      switch (instruction.op) {
        case "done":
          return true;
        case "split":
          visit(instruction.second, place);
          visit(instruction.first, place);
          break;
        case "jump":
          visit(instruction.to, place);
          break;
        case "edge":
          if (isAtEdge(instruction.edge, text, place)) visit(at + 1, place);
          break;
        case "look":
          if (matches(instruction.program, text, place, spend) !== instruction.isNot) visit(at + 1, place);
          break;
        case "char": {
          const next = step(text, place, isBackward, instruction.fits);
          if (next >= 0) visit(at + 1, next);
          break;
        }
        case "chars": {
          const { fits, min, max } = instruction;
          let next = place;
          for (let count = 0; next >= 0; count++) {
            if (count >= min) visit(at + 1, next);
            if (count === max) break;
            if (++steps % matchStepsPerStep === 0) spend(1);
            next = step(text, next, isBackward, fits);
          }
        }
      }
    }
    spend(1);
    if (from !== undefined) return false;
  }
  return false;
}

/** The position after the next character, if it matches; else -1. */
function step(text: string, place: number, isBackward: boolean, fits: CharTest): number {
  if (!isBackward) {
    const codePoint = text.codePointAt(place);
    if (codePoint === undefined || !fits(codePoint)) return -1;
    return place + (codePoint > 0xffff ? 2 : 1);
  }
  if (place === 0) return -1;
  const previous = previousPlace(text, place);
  return fits(text.codePointAt(previous) as number) ? previous : -1;
}

function nextPlace(text: string, place: number): number {
  return place + ((text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1);
}

function previousPlace(text: string, place: number): number {
  return place >= 2 && (text.codePointAt(place - 2) as number) > 0xffff ? place - 2 : place - 1;
}

function isAtEdge(edge: "start" | "end" | "word" | "inside", text: string, place: number): boolean {
  if (edge === "start") return place === 0;
  if (edge === "end") return place === text.length;
  const isBetween = isWord(text.charCodeAt(place - 1)) !== isWord(text.charCodeAt(place));
  return isBetween === (edge === "word");
}

function isWord(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
  );
}
