// A turn as JSON, and back.

import { isLazy, Literal } from "../async/lazy.ts";
import { checkOptions, isPlainObject } from "../error/check.ts";
import { InvalidJsonError, UnserializableError } from "../error/json-errors.ts";
import { decode, encode } from "../json/codec.ts";
import type { JsonObject } from "../json/json-value.ts";
import { formatVersion, SavedObject } from "../json/read.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { Turn } from "./turn.ts";
import { checkScope, findTool, type ToolScope, type TurnOptions } from "./turn-options.ts";
import { type StopReason, stopReasons, type TurnState } from "./turn-state.ts";

/** `within` is the place of the turn in a larger whole, for error messages. */
export function writeTurn(turn: Turn, within = ""): JsonObject {
  const path = (key: string) => (within === "" ? key : `${within}.${key}`);
  for (const [key, value] of Object.entries(turn.input))
    if (isLazy(value) || value instanceof Literal)
      throw new UnserializableError(
        path(`input.${key}`),
        value,
        "its value is only known when the tool runs",
      );
  return {
    version: formatVersion,
    uuid: turn.uuid,
    toolName: turn.tool.name,
    input: encode(turn.input, path("input")),
    metadata: encode(turn.metadata, path("metadata")),
    timeoutMs: turn.timeoutMs === Number.POSITIVE_INFINITY ? null : turn.timeoutMs,
    tags: [...turn.tags],
    source: turn.source,
    callId: turn.callId ?? null,
    attempts: turn.attempts,
    startTime: turn.startTime?.toISOString() ?? null,
    endTime: turn.endTime?.toISOString() ?? null,
    stopReason: turn.stopReason,
    hasReturned: turn.hasReturned,
    ...outputOf(turn, path("output")),
  };
}

/** A tool may return its own turn, to be run again. */
function outputOf(turn: Turn, path: string): JsonObject {
  if (turn.output === turn) return { isOwnOutput: true };
  // Without a result it is null, as the other fields are; a tool may also return undefined.
  const hasOutput = turn.output !== undefined || turn.stopReason === "completed";
  return { output: hasOutput ? encode(turn.output, path) : null };
}

/** The parts of a saved turn, for `Turn` to restore it. */
export interface SavedTurn {
  readonly tool: AnyTool;
  readonly input: Record<string, unknown>;
  readonly options: TurnOptions;
  readonly state: TurnState;
  /** Whether its output is the turn itself. */
  readonly isOwnOutput: boolean;
}

export function readTurn(json: unknown, scope: ToolScope & { path?: string }): SavedTurn {
  checkOptions("options", scope, ["tools", "registry", "path"]);
  checkScope(scope);
  const saved = new SavedObject(json, scope.path ?? "turn");
  const object = (key: string) => {
    const value = decode(saved.raw(key) ?? {}, scope, saved.pathOf(key));
    if (!isPlainObject(value)) throw new InvalidJsonError(saved.pathOf(key), "an object", value);
    return value;
  };

  const tool = findTool(saved.string("toolName"), scope);
  const options: TurnOptions = { metadata: object("metadata"), tags: saved.strings("tags") };
  const [uuid, callId] = [saved.optionalString("uuid"), saved.optionalString("callId")];
  if (uuid !== undefined) options.uuid = uuid;
  if (callId !== undefined) options.callId = callId;
  const source = saved.optionalString("source");
  if (source !== undefined && source !== "code" && source !== "model")
    throw new InvalidJsonError(saved.pathOf("source"), '"code" or "model"', source);
  if (source !== undefined) options.source = source;
  const timeoutMs = saved.numberThat("timeoutMs", "a number above 0, or null for no limit", (ms) => ms > 0);
  if (timeoutMs !== undefined) options.timeoutMs = timeoutMs;
  else if (saved.isNull("timeoutMs")) options.timeoutMs = Number.POSITIVE_INFINITY;

  return {
    tool,
    input: object("input"),
    options,
    state: readState(saved, scope),
    isOwnOutput: saved.boolean("isOwnOutput") ?? false,
  };
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function readState(saved: SavedObject, scope: ToolScope): TurnState {
  const stopReason = saved.optionalString("stopReason") ?? null;
  if (stopReason !== null && !stopReasons.includes(stopReason))
    throw new InvalidJsonError(saved.pathOf("stopReason"), `one of ${stopReasons.join(", ")}`, stopReason);
  return {
    attempts: saved.numberThat("attempts", "a whole number from 0", isCount) ?? 0,
    startTime: saved.date("startTime") ?? null,
    endTime: saved.date("endTime") ?? null,
    stopReason: stopReason as StopReason | null,
    output: readOutput(saved, stopReason, scope),
    hasReturned: saved.boolean("hasReturned") ?? false,
  };
}

/** `null` is a result only of a turn that completed. */
function readOutput(saved: SavedObject, stopReason: string | null, scope: ToolScope): unknown {
  if (!saved.has("output") || (saved.isNull("output") && stopReason !== "completed")) return undefined;
  return decode(saved.raw("output") ?? null, scope, saved.pathOf("output"));
}
