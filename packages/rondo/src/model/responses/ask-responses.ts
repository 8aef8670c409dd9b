// The work behind one stream of a Responses API: one response, and those that follow from approvals.

import { untilAborted } from "../../async/until-aborted.ts";
import { isPlainObject } from "../../error/check.ts";
import { ModelHttpError } from "../../error/model-http-errors.ts";
import type { JsonObject } from "../../json/json-value.ts";
import type { AnswerTrace } from "../../trace/answer-trace.ts";
import { askModel, type ChatSetup } from "../ask-model.ts";
import type { DeltaSink } from "../delta-stream.ts";
import type { ModelDelta } from "../provider.ts";
import { addUsage } from "../usage.ts";
import { AnswerNote, type ResponseChain } from "./response-chain.ts";
import { ResponseReader } from "./response-reader.ts";
import { type CheckedRequest, toItems, type WireFields } from "./response-request.ts";

/** A call of a tool of the server's that needs approval. */
export interface ApprovalRequest {
  readonly id: string;
  /** The MCP server that has the tool. */
  readonly serverLabel: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface ResponsesSetup {
  readonly chat: ChatSetup;
  /** Undefined for the server's default. */
  readonly model: string | undefined;
  /** Set if the server stores the responses. */
  readonly chain: ResponseChain | undefined;
  readonly approve:
    | ((request: ApprovalRequest, signal: AbortSignal) => boolean | Promise<boolean>)
    | undefined;
  readonly onResponse: ((response: JsonObject) => void) | undefined;
}

/** A function may allow everything, and a server may ask forever. */
const maxApprovalRounds = 100;

type Finished = Extract<ModelDelta, { type: "finished" }>;

/** Asks, and pushes what comes into the sink: one answer, however many responses it takes. */
export async function askResponses(
  setup: ResponsesSetup,
  request: CheckedRequest,
  sink: DeltaSink,
  trace: AnswerTrace | undefined,
): Promise<void> {
  const { chain, approve, onResponse } = setup;
  const { messages } = request;
  const sendsReasoning = setup.chat.learned.current.sendReasoning !== "none";
  const note = new AnswerNote();
  let reader: ResponseReader | undefined;
  let finished: Finished | undefined;
  const ask = async (input: WireFields): Promise<JsonObject> => {
    reader = new ResponseReader(setup.chat.limits.maxCallsPerAnswer, reader);
    const own: DeltaSink = {
      signal: sink.signal,
      isFull: sink.isFull,
      stop: sink.stop,
      set onDrained(listener: () => void) {
        sink.onDrained = listener;
      },
      push(delta) {
        note.take(delta);
        if (delta.type !== "finished") sink.push(delta);
        else finished = { ...delta, usage: addUsage(finished?.usage, delta.usage) };
      },
    };
    await askOnce(setup, { ...request.fields, ...input }, reader, own, trace);
    const response = reader.response ?? {};
    onResponse?.(response);
    return response;
  };

  const whole = () => toItems(messages, sendsReasoning);
  const link = chain?.next(messages);
  let input = link ? toItems(link.added, sendsReasoning) : whole();
  let response = link
    ? await ask({ input, previous_response_id: link.responseId }).catch((error: unknown) => {
        if (!isLost(error)) throw error;
        trace?.retried(error, 0);
        input = whole();
        return ask({ input });
      })
    : await ask({ input });
  for (let round = 0; round < maxApprovalRounds; round++) {
    const requests = finished?.finishReason === "tool_calls" ? [] : approvalRequestsIn(response);
    if (!approve || requests.length === 0) break;
    const answers: WireFields[] = [];
    for (const asked of requests) {
      // Whatever is not a clear yes is a no.
      const isAllowed: unknown = await untilAborted<unknown>(
        Promise.resolve(approve(asked, sink.signal)),
        sink.signal,
      );
      answers.push({
        type: "mcp_approval_response",
        approval_request_id: asked.id,
        approve: isAllowed === true,
      });
    }
    const isStored = chain !== undefined && response["store"] !== false;
    input = isStored ? answers : [...input, ...(response["output"] as unknown as WireFields[]), ...answers];
    response = await ask(isStored ? { input, previous_response_id: response["id"] } : { input });
  }
  if (typeof response["id"] === "string" && response["store"] !== false)
    chain?.add(response["id"], messages, note);
  if (finished) sink.push(finished);
}

async function askOnce(
  { chat, model, chain }: ResponsesSetup,
  fields: WireFields,
  reader: ResponseReader,
  sink: DeltaSink,
  trace: AnswerTrace | undefined,
): Promise<void> {
  // Servers store by default. One that stores nothing rejects the wish, and says so in its response.
  const text = JSON.stringify({ model, stream: true, ...(!chain && { store: false }), ...fields });
  const setup = { ...chat, path: "/responses", createReader: () => reader };
  await askModel(setup, () => ({ parts: [text], toolNames: [], isWhole: false }), sink, trace);
}

/** Whether the server no longer has the response that the request goes on from. */
function isLost(error: unknown): boolean {
  return (
    error instanceof ModelHttpError && (error.status === 404 || /previous[ _]response/i.test(error.said))
  );
}

function approvalRequestsIn({ output }: JsonObject): ApprovalRequest[] {
  const items: unknown[] = Array.isArray(output) ? output : [];
  return items
    .filter(isPlainObject)
    .flatMap(({ type, id, server_label, name, arguments: text }) =>
      type === "mcp_approval_request" && typeof id === "string"
        ? [{ id, serverLabel: textIn(server_label), name: textIn(name), arguments: textIn(text) }]
        : [],
    );
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
