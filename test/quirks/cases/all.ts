// All cases, by class.

import type { QuirkCase, QuirkClass } from "../quirk-case.ts";
import { argumentCases, truncated, unknownTool } from "./arguments.ts";
import { reasoning, text, usage } from "./content.ts";
import { ending } from "./ending.ts";
import { identity } from "./identity.ts";
import { lookalikeCases, textCalls } from "./text-calls.ts";
import { beforeStream, leaving, slow, streamErrors } from "./transport.ts";

export const quirks: Readonly<Record<QuirkClass, readonly QuirkCase[]>> = {
  "tool call identity": identity,
  ending,
  arguments: argumentCases,
  "truncated arguments": truncated,
  "unknown or disallowed tool": unknownTool,
  "tool calls as text": textCalls,
  "look-alikes of tool calls": lookalikeCases,
  reasoning,
  text,
  usage,
  "stream errors": streamErrors,
  "before the stream": beforeStream,
  "slow models": slow,
  leaving,
};
