// Reads one entry of `tool_calls`, in all shapes that servers send.

import { jsonFlaw } from "../../json/json-flaw.ts";

/** Longer than the name of any tool: the rest is dropped. */
export const maxNameLength = 1024;
/** Some gateways put a model's signed thoughts into an id. Longer text is not an id. */
const maxIdLength = 65_536;

/** A piece of a call; missing text is empty. */
export interface CallPiece {
  readonly index: number | string | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** The arguments came as an object, so they are complete. */
  readonly isWhole: boolean;
}

/** Undefined if the entry has nothing of a call. */
export function readPiece(entry: unknown): CallPiece | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { index, id, function: inner, name, arguments: flat } = entry as Record<string, unknown>;
  const body = (typeof inner === "object" && inner !== null ? inner : { name, arguments: flat }) as Record<
    string,
    unknown
  >;
  const { text, isWhole } = readArguments(body["arguments"]);
  const piece: CallPiece = {
    index: readIndex(index),
    id: readText(id),
    name: typeof body["name"] === "string" ? body["name"].slice(0, maxNameLength) : "",
    arguments: text,
    isWhole,
  };
  const isEmpty = piece.id === "" && piece.name === "" && piece.arguments === "" && piece.index === undefined;
  return isEmpty ? undefined : piece;
}

function readIndex(index: unknown): number | string | undefined {
  return (typeof index === "number" && Number.isFinite(index)) || (typeof index === "string" && index !== "")
    ? index
    : undefined;
}

function readText(value: unknown): string {
  if (typeof value === "string") return value.length > maxIdLength ? "" : value.trim();
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

function readArguments(value: unknown): { text: string; isWhole: boolean } {
  if (typeof value === "string") return { text: value, isWhole: false };
  if (value === undefined || value === null) return { text: "", isWhole: false };
  // As JSON it would lose the number, or overflow the stack. Text that is not JSON prevents the call from running.
  const flaw = jsonFlaw(value);
  return { text: flaw === undefined ? JSON.stringify(value) : `(${flaw})`, isWhole: true };
}
