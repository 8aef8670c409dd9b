// An error as traces have it: its kind and its message, without stack, cause or data.

import { describe } from "../error/describe.ts";
import type { TraceError } from "./trace.ts";

const maxMessageLength = 2_000;

export function toTraceError(error: unknown): TraceError {
  try {
    const { code, name, message } = Object(error) as Record<string, unknown>;
    // Codes of DOM exceptions are numbers.
    const type = [code, name].find((it): it is string => typeof it === "string" && it !== "") ?? "unknown";
    const said = typeof message === "string" ? message : describe(error);
    return { type: type.slice(0, 100), message: said.slice(0, maxMessageLength) };
  } catch {
    return { type: "unknown", message: describe(error) };
  }
}
