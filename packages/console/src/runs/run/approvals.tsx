// Calls that wait for a person. The decision is sent as the next request of the thread, which goes on in the background.

import { useSignal } from "@preact/signals";
import { messageOf, post } from "../../api/api.ts";
import type { Item } from "../../api/response.ts";
import { isRunning, type ResponseObject } from "../../api/response.ts";
import type { RunSummary } from "../../api/types.ts";
import { goTo, linkTo } from "../../shell/router.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { sameRequest } from "../code/request-body.ts";

export interface ApprovalsProps {
  readonly response: ResponseObject;
  readonly thread: readonly RunSummary[];
}

export function Approvals({ response, thread }: ApprovalsProps) {
  const decisions = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const isSending = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const requests = response.output.filter(({ type }) => type === "mcp_approval_request");
  if (requests.length === 0 || isRunning(response)) return null;
  const answer = thread.find(({ previous_response_id: before }) => before === response.id);
  if (answer)
    return (
      <p class="notice">
        {requests.length === 1 ? "The call that needed approval was" : "The calls that needed approval were"}{" "}
        answered in <a href={linkTo("runs", [answer.id])}>the next run</a>.
      </p>
    );
  const send = async (all: ReadonlyMap<string, boolean>) => {
    isSending.value = true;
    error.value = undefined;
    try {
      const sent = await post<ResponseObject>("v1/responses", nextRequest(response, all));
      goTo(linkTo("runs", [sent.id]));
    } catch (caught) {
      error.value = messageOf(caught);
      decisions.value = new Map();
    }
    isSending.value = false;
  };
  const decide = (id: string, approve: boolean) => {
    const all = new Map(decisions.peek()).set(id, approve);
    decisions.value = all;
    if (requests.every((request) => all.has(request.id ?? ""))) void send(all);
  };
  return (
    <section class="stack" aria-label="Approvals">
      {requests.map((request) => (
        <Approval
          key={request.id}
          request={request}
          decision={decisions.value.get(request.id ?? "")}
          isSending={isSending.value}
          isOneOfMany={requests.length > 1}
          onDecide={(approve) => decide(request.id ?? "", approve)}
        />
      ))}
      {error.value !== undefined && (
        <ErrorNotice title="The decision could not be sent." message={error.value} />
      )}
    </section>
  );
}

interface ApprovalProps {
  readonly request: Item;
  readonly decision: boolean | undefined;
  readonly isSending: boolean;
  readonly isOneOfMany: boolean;
  readonly onDecide: (approve: boolean) => void;
}

function Approval({ request, decision, isSending, isOneOfMany, onDecide }: ApprovalProps) {
  const name = String(request["name"]);
  return (
    <div class="card stack">
      <p>
        The model wants to call <code>{name}</code> of {String(request["server_label"])}.
      </p>
      <CodeBlock label={`Arguments of ${name}`}>{pretty(request["arguments"])}</CodeBlock>
      <div class="row">
        <button
          class="button primary"
          type="button"
          disabled={isSending}
          aria-pressed={decision === true}
          onClick={() => onDecide(true)}
        >
          Approve
        </button>
        <button
          class="button danger"
          type="button"
          disabled={isSending}
          aria-pressed={decision === false}
          onClick={() => onDecide(false)}
        >
          Deny
        </button>
        {isOneOfMany && decision !== undefined && (
          <span class="soft">{decision ? "Approved" : "Denied"}. Sent when all calls are decided.</span>
        )}
      </div>
    </div>
  );
}

function nextRequest(response: ResponseObject, decisions: ReadonlyMap<string, boolean>): object {
  const { metadata = {}, ...request } = sameRequest(response);
  return {
    ...request,
    ...(response.conversation ? {} : { previous_response_id: response.id }),
    background: true,
    metadata: { ...(metadata as object), source: "console" },
    input: [...decisions].map(([id, approve]) => ({
      type: "mcp_approval_response",
      approval_request_id: id,
      approve,
    })),
  };
}

function pretty(json: unknown): string {
  if (typeof json !== "string") return "";
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
