// Reads one entry of `tool_calls`, in all the shapes in which servers send it.

import { jsonFlaw } from "../../json/json-flaw.ts";

/** A name that long is no tool's: its rest need not be kept. */
export const maxNameLength = 1024;
/** Some gateways keep a model's signed thoughts in an id. What is longer still is no id. */
const maxIdLength = 65_536;

/** A piece of a call; text that did not come is empty. */
export interface CallPiece {
  readonly index: number | string | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** The arguments came as an object, so they are complete. */
  readonly isWhole: boolean;
}

/** Undefined when the entry is not one. */
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
  // Written as JSON it would lose the number, or overflow the stack: no JSON keeps the call from being run.
  const flaw = jsonFlaw(value);
  return { text: flaw === undefined ? JSON.stringify(value) : `(${flaw})`, isWhole: true };
}
