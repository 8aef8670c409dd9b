// How this server differs from the public schema of the Responses API, in full: `docs/compatibility.md` lists the
// same, and whatever is not here fails the tests. The public schema is what the `openai` package declares.

import { type Schema, whenTagged } from "./schema-of-types.ts";

interface Base {
  /** What `docs/compatibility.md` says, as a sentence. */
  readonly text: string;
}

export type Deviation = Base &
  (
    | {
        readonly kind: "value";
        readonly in: string;
        readonly key: string;
        readonly values: readonly (string | null)[];
      }
    | { readonly kind: "key"; readonly in: string; readonly key: string; readonly schema: Schema }
    | { readonly kind: "left out"; readonly in: string; readonly key: string }
    | { readonly kind: "event"; readonly type: string; readonly schema: Schema }
  );

const number: Schema = { type: "number" };

/** The error codes of this server, in a failed response. Those of the public schema are allowed beside them. */
const ownErrorCodes = [
  "context_length_exceeded",
  "conversation_not_found",
  "empty_summary",
  "interrupted",
  "model_answer_limit",
  "model_auth",
  "model_empty_answer",
  "model_idle_timeout",
  "model_not_found",
  "model_request",
  "model_server",
  "model_stream_broken",
  "model_stream_error",
  "model_timeout",
  "model_unexpected_answer",
  "model_unreachable",
  "previous_response_not_found",
  "prompt_cut",
  "response_deleted",
  "store_unavailable",
  "too_many_attempts",
] as const;

export const deviations: readonly Deviation[] = [
  {
    kind: "value",
    in: "Response",
    key: "status",
    values: ["requires_action"],
    text: "`status` may be `requires_action`: the client has function calls to answer.",
  },
  {
    kind: "value",
    in: "Response.IncompleteDetails",
    key: "reason",
    values: ["max_agentic_turns", "max_tool_calls", "cancelled"],
    text: "`incomplete_details.reason` may be `max_agentic_turns`, `max_tool_calls` or `cancelled`.",
  },
  {
    kind: "value",
    in: "ResponseError",
    key: "code",
    values: ownErrorCodes,
    text: `\`error.code\` of a failed response may be one of this server's own: ${ownErrorCodes.map((code) => `\`${code}\``).join(", ")}.`,
  },
  {
    kind: "event",
    type: "keepalive",
    schema: {
      type: "object",
      properties: { type: { enum: ["keepalive"] }, sequence_number: number },
      required: ["type", "sequence_number"],
      additionalProperties: false,
    },
    text: "The event `keepalive` is sent after 60 seconds of silence.",
  },
  {
    kind: "key",
    in: "ResponseErrorEvent",
    key: "error",
    schema: { $ref: "#/$defs/ErrorObject" },
    text: "The event `error` says the same twice: flat, as the API has it, and nested in `error`, where some clients look.",
  },
  {
    kind: "value",
    in: "Response",
    key: "usage",
    values: [null],
    text: "`usage` is null until the response has ended.",
  },
  {
    kind: "key",
    in: "ResponseUsage",
    key: "estimated",
    schema: { type: "boolean" },
    text: "`usage.estimated` is true if the model server did not report the tokens of all answers, as for one that was interrupted: they are then estimated.",
  },
  {
    kind: "key",
    in: "ResponseUsage.InputTokensDetails",
    key: "cut_tokens",
    schema: number,
    text: "`usage.input_tokens_details.cut_tokens` is how many tokens of the prompt the model server dropped, where that is certain.",
  },
  {
    kind: "key",
    in: "Response",
    key: "warnings",
    schema: {
      type: "array",
      items: {
        type: "object",
        properties: { code: { type: "string" }, message: { type: "string" } },
        required: ["code", "message"],
        additionalProperties: false,
      },
    },
    text: "A response may have `warnings` when it ends, which are not stored: `shape_in_words` if the model server is not known to enforce `text.format`, so that the model was only asked for it.",
  },
  {
    kind: "key",
    in: "ResponseFunctionCallArgumentsDoneEvent",
    key: "name",
    schema: { type: "string" },
    text: "`response.function_call_arguments.done` has the `name` of the function.",
  },
  {
    kind: "key",
    in: "ResponseShellCallCommandAddedEvent",
    key: "item_id",
    schema: { type: "string" },
    text: "`response.shell_call_command.added` has the `item_id` of its call.",
  },
  {
    kind: "key",
    in: "ResponseShellCallCommandDeltaEvent",
    key: "item_id",
    schema: { type: "string" },
    text: "`response.shell_call_command.delta` has the `item_id` of its call.",
  },
  {
    kind: "key",
    in: "ResponseShellCallCommandDoneEvent",
    key: "item_id",
    schema: { type: "string" },
    text: "`response.shell_call_command.done` has the `item_id` of its call.",
  },
  {
    kind: "key",
    in: "ResponseCodeInterpreterToolCall",
    key: "output",
    schema: { type: "string" },
    text: "A `code_interpreter_call` has the key `output` when it is done: what the model read, also without `include`. Later requests need it.",
  },
  {
    kind: "key",
    in: "Response",
    key: "store",
    schema: { type: "boolean" },
    text: "A response has the key `store`, as OpenResponses has it.",
  },
  {
    kind: "key",
    in: "Response",
    key: "presence_penalty",
    schema: number,
    text: "A response has the key `presence_penalty`, as OpenResponses has it.",
  },
  {
    kind: "key",
    in: "Response",
    key: "frequency_penalty",
    schema: number,
    text: "A response has the key `frequency_penalty`, as OpenResponses has it.",
  },
  {
    kind: "value",
    in: "ConversationItemList",
    key: "first_id",
    values: [null],
    text: "`first_id` of a page of conversation items is null where there are none.",
  },
  {
    kind: "value",
    in: "ConversationItemList",
    key: "last_id",
    values: [null],
    text: "`last_id` of a page of conversation items is null where there are none.",
  },
  {
    kind: "left out",
    in: "Response",
    key: "output_text",
    text: "`output_text` is left out: the `openai` package adds it on the client's side.",
  },
  {
    kind: "left out",
    in: "Response",
    key: "access_programs",
    text: "`access_programs` is left out: it is about OpenAI's own programs.",
  },
  {
    kind: "left out",
    in: "ResponseUsage.InputTokensDetails",
    key: "cache_write_tokens",
    text: "`usage.input_tokens_details.cache_write_tokens` is left out: model servers do not tell it.",
  },
];

/** Changes the definitions of the public schema to what this server may send. */
export function applyDeviations(
  definitions: Record<string, Schema>,
  list: readonly Deviation[] = deviations,
): void {
  for (const deviation of list) {
    if (deviation.kind === "event") {
      addEvent(find(definitions, "ResponseStreamEvent"), deviation.type, deviation.schema);
      continue;
    }
    const definition = find(definitions, deviation.in);
    const { [deviation.key]: known, ...others } = definition.properties ?? {};
    if ((deviation.kind === "key") !== (known === undefined))
      throw new Error(
        `The public schema ${known ? "now has" : "has no"} '${deviation.key}' in '${deviation.in}'. ` +
          `Correct the deviation "${deviation.text}".`,
      );
    if (deviation.kind === "left out")
      definition.required = (definition.required ?? []).filter((key) => key !== deviation.key);
    else
      definition.properties = {
        ...others,
        [deviation.key]:
          deviation.kind === "key"
            ? deviation.schema
            : { anyOf: [{ enum: [...deviation.values] }, known as Schema] },
      };
  }
}

function find(definitions: Record<string, Schema>, name: string): Schema {
  const definition = definitions[name];
  if (!definition) throw new Error(`The public schema has no type '${name}': correct the deviations.`);
  return definition;
}

function addEvent(union: Schema, type: string, schema: Schema): void {
  const types = union.properties?.["type"]?.enum;
  if (!types || !union.allOf)
    throw new Error("The events of the public schema are no tagged union any more.");
  if (types.includes(type)) throw new Error(`The public schema now has the event '${type}'.`);
  types.push(type);
  union.allOf.push(whenTagged(type, schema));
}
