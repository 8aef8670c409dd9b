import type OpenAI from "openai";
import type { InputTokenCountParams } from "openai/resources/responses/input-tokens";
import { describe, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type { createRequestSchema, inputTokensSchema } from "./create-request-schema.ts";
import type { EventBody, ExtensionEvent, KnownEventBody, StreamEvent } from "./events.ts";
import type { inputItem, knownItems } from "./input-items.ts";
import type {
  ExtensionItem,
  FunctionCallItem,
  KnownOutputItem,
  McpApprovalRequestItem,
  McpCallItem,
  McpListToolsItem,
  MessageItem,
  OutputItem,
  ReasoningItem,
} from "./items.ts";
import type { IncompleteReason, ResponseError, ResponseObject, ResponseUsage } from "./response.ts";
import type { ResponseStatus } from "./status.ts";
import type { knownTools } from "./tools.ts";

type Public = OpenAI.Responses.Response;
type PublicEvent = OpenAI.Responses.ResponseStreamEvent;

/** The keys of `T` whose values the public type does not allow. */
type Misfits<T, P> = {
  [K in keyof T]-?: K extends keyof P ? (T[K] extends P[K] ? never : K) : K;
}[keyof T];

/** The keys that the public type demands and that `T` does not have. */
type Missing<T, P> = Exclude<{ [K in keyof P]-?: undefined extends P[K] ? never : K }[keyof P], keyof T>;

describe("what is emitted fits the public types, but for", () => {
  test("in the response: the documented deviations, and what the client itself has said", () => {
    expectTypeOf<Misfits<ResponseObject, Public>>().toEqualTypeOf<
      // `requires_action`, own reasons, own codes, null until it has ended.
      | "status"
      | "incomplete_details"
      | "error"
      | "usage"
      // From OpenResponses.
      | "store"
      | "presence_penalty"
      | "frequency_penalty"
      // Echoes.
      | "tools"
      | "tool_choice"
      | "instructions"
      // See below.
      | "output"
      // An extension.
      | "warnings"
    >();
    expectTypeOf<Missing<ResponseObject, Public>>().toEqualTypeOf<"access_programs" | "output_text">();
    type OtherStatus = Exclude<ResponseStatus, NonNullable<Public["status"]>>;
    expectTypeOf<OtherStatus>().toEqualTypeOf<"requires_action">();
    type PublicReason = NonNullable<NonNullable<Public["incomplete_details"]>["reason"]>;
    type OtherReason = Exclude<IncompleteReason, PublicReason>;
    expectTypeOf<OtherReason>().toEqualTypeOf<"max_agentic_turns" | "max_tool_calls" | "cancelled">();
    expectTypeOf<Misfits<ResponseError, NonNullable<Public["error"]>>>().toEqualTypeOf<"code">();
    type PublicUsage = NonNullable<Public["usage"]>;
    expectTypeOf<Misfits<ResponseUsage, PublicUsage>>().toEqualTypeOf<"input_tokens_details" | "estimated">();
    expectTypeOf<
      Missing<ResponseUsage["input_tokens_details"], PublicUsage["input_tokens_details"]>
    >().toEqualTypeOf<"cache_write_tokens">();
  });

  test("in the items: by the type alone, a status", () => {
    type MessageMisfits = Misfits<MessageItem, OpenAI.Responses.ResponseOutputMessage>;
    type ReasoningMisfits = Misfits<ReasoningItem, OpenAI.Responses.ResponseReasoningItem>;
    type CallMisfits = Misfits<FunctionCallItem, OpenAI.Responses.ResponseFunctionToolCallItem>;
    // `failed` is said only of calls that the server runs.
    expectTypeOf<[MessageMisfits, ReasoningMisfits, CallMisfits]>().toEqualTypeOf<
      ["status", "status", "status"]
    >();
    type PublicStatus = OpenAI.Responses.ResponseOutputMessage["status"];
    expectTypeOf<
      Exclude<Extract<KnownOutputItem, { status: unknown }>["status"], PublicStatus>
    >().toEqualTypeOf<"failed">();
    expectTypeOf<Misfits<McpCallItem, OpenAI.Responses.ResponseOutputItem.McpCall>>().toEqualTypeOf<never>();
    type ListMisfits = Misfits<McpListToolsItem, OpenAI.Responses.ResponseOutputItem.McpListTools>;
    type ApprovalMisfits = Misfits<
      McpApprovalRequestItem,
      OpenAI.Responses.ResponseOutputItem.McpApprovalRequest
    >;
    expectTypeOf<[ListMisfits, ApprovalMisfits]>().toEqualTypeOf<[never, never]>();
    type PublicType = OpenAI.Responses.ResponseOutputItem["type"];
    expectTypeOf<Exclude<KnownOutputItem["type"], PublicType>>().toEqualTypeOf<never>();
  });

  test("in the events: keepalive, the error's second form, and the name of a finished call", () => {
    type KnownEvent = KnownEventBody & { sequence_number: number };
    type Other = Exclude<KnownEvent["type"], PublicEvent["type"]>;
    expectTypeOf<Other>().toEqualTypeOf<"keepalive">();
    /** One event may stand for several types. */
    type NamedIn<E, T> = E extends { type: infer Types }
      ? T extends Types
        ? Omit<E, "type">
        : never
      : never;
    type Named<T> = NamedIn<KnownEvent, T>;
    type PublicNamed<T> = Extract<PublicEvent, { type: T }>;
    type Differing<T> = T extends PublicEvent["type"]
      ? Exclude<Misfits<Named<T>, PublicNamed<T>>, Checked> | Missing<Named<T>, Omit<PublicNamed<T>, "type">>
      : never;
    /** These have tests of their own. */
    type Checked = "response" | "item";
    expectTypeOf<Differing<"error">>().toEqualTypeOf<"error">();
    expectTypeOf<Differing<"response.function_call_arguments.done">>().toEqualTypeOf<"name">();
    type Others = Exclude<KnownEvent["type"], "error" | "response.function_call_arguments.done">;
    expectTypeOf<Differing<Others>>().toEqualTypeOf<never>();
  });
});

test("the comparison sees what differs", () => {
  type Delta = Extract<PublicEvent, { type: "response.reasoning_text.delta" }>;
  expectTypeOf<Misfits<{ delta: number; item_id: string; x: 1 }, Delta>>().toEqualTypeOf<"delta" | "x">();
  expectTypeOf<Missing<Omit<Delta, "item_id">, Delta>>().toEqualTypeOf<"item_id">();
});

describe("items and events of executors", () => {
  test("leave the known ones to be told by their type", () => {
    type Narrowed<T, Type> = T extends { type: infer Own } ? (Type extends Own ? T : never) : never;
    expectTypeOf<Narrowed<OutputItem, "message">>().toEqualTypeOf<MessageItem>();
    expectTypeOf<Narrowed<EventBody, "response.output_item.done">>().toExtend<{ item: OutputItem }>();
    const read = (item: OutputItem, event: StreamEvent) => {
      if (item.type === "message") expectTypeOf(item).toEqualTypeOf<MessageItem>();
      if (event.type === "response.output_text.delta") expectTypeOf(event.delta).toEqualTypeOf<string>();
      if ("response" in event) expectTypeOf(event.response.id).toEqualTypeOf<string>();
    };
    expectTypeOf(read).toBeFunction();
    expectTypeOf<Extract<ExtensionItem["type"], KnownOutputItem["type"]>>().toEqualTypeOf<never>();
    expectTypeOf<Extract<ExtensionEvent["type"], KnownEventBody["type"]>>().toEqualTypeOf<never>();
  });

  test("have a type of their vendor's, or one that the API has for hosted tools", () => {
    expectTypeOf<{ type: "acme.search_call"; id: "s_1"; hits: [] }>().toExtend<ExtensionItem>();
    expectTypeOf<{ type: "search_call"; id: "s_1" }>().not.toExtend<ExtensionItem>();
    type Hosted = Exclude<ExtensionItem["type"], `${string}.${string}` | `${string}:${string}`>;
    expectTypeOf<Exclude<Hosted, OpenAI.Responses.ResponseOutputItem["type"]>>().toEqualTypeOf<never>();
    const searching = {
      type: "response.acme.search_call.searching",
      item_id: "s_1",
      output_index: 0,
      query: "q",
    } as const;
    expectTypeOf(searching).toExtend<ExtensionEvent>();
    expectTypeOf<ExtensionEvent>().toExtend<EventBody>();
  });
});

/** The same without interfaces, which cannot be given where objects with any further fields are taken. */
type Plain<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer E)[]
    ? Plain<E>[]
    : { [K in keyof T]: Plain<T[K]> };

/** The fields of `T` whose values `Schema` does not take. */
type RefusedFields<T, Schema extends z.ZodType> = {
  [K in keyof T]-?: Plain<T[K]> extends z.input<Schema>[K & keyof z.input<Schema>] ? never : K;
}[keyof T];

/** What an object of a type must be: as `Known` has it, or anything that has a type. */
type Taken<Type, Known extends { type?: unknown }> = Type extends Known["type"] ? Known : Other;
type Other = { type: string; id?: string | null | undefined };

/** The types of `T` that are not taken. */
type RefusedTypes<T, Known extends { type?: unknown }> = T extends { type?: infer Type }
  ? Plain<T> extends Taken<Type, Known>
    ? never
    : Type
  : never;

describe("what clients of the openai package may send is accepted", () => {
  type Given = OpenAI.Responses.ResponseCreateParamsNonStreaming & { stream?: boolean | null };
  type KnownItem = z.input<typeof knownItems>;
  type KnownTool = z.input<typeof knownTools>;

  test("in each field, but for two items of the input", () => {
    expectTypeOf<RefusedFields<Given, typeof createRequestSchema>>().toEqualTypeOf<"input">();
    expectTypeOf<RefusedFields<InputTokenCountParams, typeof inputTokensSchema>>().toEqualTypeOf<"input">();
    expectTypeOf<RefusedTypes<OpenAI.Responses.ResponseInputItem, KnownItem>>().toEqualTypeOf<
      // Their types allow it without the id of its call, and nothing can be done with that here.
      | "function_call_output"
      // Their type has a null in the middle of it, which ours has as a form of its own.
      | "item_reference"
      | null
    >();
  });

  test("as the output of a function, if it says which call it answers", () => {
    type Identified = OpenAI.Responses.ResponseInputItem.FunctionCallOutput & { call_id: string };
    expectTypeOf<RefusedTypes<Identified, KnownItem>>().toEqualTypeOf<never>();
  });

  test("as a reference to an item, with and without its type", () => {
    expectTypeOf<{ type: "item_reference"; id: string }>().toExtend<z.input<typeof inputItem>>();
    expectTypeOf<{ type?: null; id: string }>().toExtend<z.input<typeof inputItem>>();
  });

  test("as tools", () => {
    expectTypeOf<RefusedTypes<OpenAI.Responses.Tool, KnownTool>>().toEqualTypeOf<never>();
  });

  test("and what they may not send is not", () => {
    expectTypeOf<RefusedTypes<{ type: "function"; name: number }, KnownTool>>().toEqualTypeOf<"function">();
    expectTypeOf<RefusedTypes<{ type: "message"; role: "user" }, KnownItem>>().toEqualTypeOf<"message">();
    expectTypeOf<
      RefusedFields<{ temperature: string }, typeof createRequestSchema>
    >().toEqualTypeOf<"temperature">();
  });
});
