// What an answer asks of a person: to approve calls, or to give the results of calls that no client is there for.

import { useSignal } from "@preact/signals";
import type { Item } from "../api/response.ts";
import type { Answer } from "./answer.ts";
import { pretty } from "./describe-call.ts";
import { CallText } from "./item-details.tsx";

export interface OpenRequestsProps {
  readonly answer: Answer;
  readonly onReply: (items: readonly Item[]) => void;
}

/** All are sent together, when each has its reply. */
export function OpenRequests({ answer, onReply }: OpenRequestsProps) {
  const replies = useSignal<ReadonlyMap<string, Item>>(new Map());
  const requests = answer.items.value.flatMap(({ item }) => (isRequest(item.value) ? [item.value] : []));
  if (requests.length === 0) return null;
  const reply = (to: Item, item: Item) => {
    replies.value = new Map(replies.peek()).set(idOf(to), item);
    if (requests.every((request) => replies.peek().has(idOf(request))))
      onReply(requests.flatMap((request) => replies.peek().get(idOf(request)) ?? []));
  };
  return (
    <div class="stack">
      {requests.map((request) => {
        const known = replies.value.get(idOf(request));
        return request.type === "mcp_approval_request" ? (
          <Approval
            key={idOf(request)}
            request={request}
            known={known}
            onReply={(item) => reply(request, item)}
          />
        ) : (
          <Result
            key={idOf(request)}
            request={request}
            known={known}
            onReply={(item) => reply(request, item)}
          />
        );
      })}
    </div>
  );
}

interface RequestProps {
  readonly request: Item;
  readonly known: Item | undefined;
  readonly onReply: (item: Item) => void;
}

function Approval({ request, known, onReply }: RequestProps) {
  const decide = (approve: boolean) =>
    onReply({ type: "mcp_approval_response", approval_request_id: idOf(request), approve });
  const look = (approve: boolean) => (known?.approve === approve ? "true" : "false");
  return (
    <section class="card stack chat-request" aria-label={`Approve ${request.name}`}>
      <div>
        <strong>The model wants to call </strong>
        <code>{request.name}</code> <span class="soft">of {request.server_label}</span>
      </div>
      <CallText label="Arguments" text={pretty(request.arguments ?? "")} />
      <div class="row">
        <button class="button primary" type="button" aria-pressed={look(true)} onClick={() => decide(true)}>
          Approve
        </button>
        <button class="button danger" type="button" aria-pressed={look(false)} onClick={() => decide(false)}>
          Deny
        </button>
        {known && <span class="soft">Sent when all calls are decided.</span>}
      </div>
    </section>
  );
}

function Result({ request, known, onReply }: RequestProps) {
  const output = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    const { call_id, type } = request;
    onReply({ type: `${type}_output`, call_id: call_id ?? "", output: output.peek() });
  };
  return (
    <form class="card stack chat-request" aria-label={`Result of ${request.name}`} onSubmit={submit}>
      <div>
        <strong>The model called </strong>
        <code>{request.name}</code>
        <span class="soft">, which its client would run. Say what it returned.</span>
      </div>
      <CallText label="Arguments" text={pretty(request.arguments ?? request.input ?? "")} />
      <label class="field">
        <span>Result</span>
        <textarea
          class="input mono"
          rows={3}
          value={output}
          onInput={(event) => {
            output.value = event.currentTarget.value;
          }}
        />
      </label>
      <div class="row">
        <button class="button primary" type="submit">
          Send the result
        </button>
        {known && <span class="soft">Sent when all calls have a result.</span>}
      </div>
    </form>
  );
}

function isRequest({ type }: Item): boolean {
  return type === "mcp_approval_request" || type === "function_call" || type === "custom_tool_call";
}

function idOf({ type, id, call_id: callId }: Item): string {
  return (type === "mcp_approval_request" ? id : callId) ?? "";
}
