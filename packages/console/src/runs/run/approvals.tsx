// Calls that wait for a person. The decision is sent as the next request of the thread, which goes on in the background.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isAbort, messageOf, post } from "../../api/api.ts";
import { decisionKey, isDecidedBefore } from "../../api/decision-key.ts";
import { useLoaded } from "../../api/load.ts";
import type { Item } from "../../api/response.ts";
import { isRunning, type ResponseObject } from "../../api/response.ts";
import { goTo, linkTo } from "../../shell/router.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { sameRequest } from "../code/request-body.ts";
import { approvalRequests, type DecisionOutcome, readOutcome } from "./decision-outcome.ts";
import { nextRuns } from "./next-runs.ts";
import type { RunState } from "./run-state.ts";

export interface ApprovalsProps {
  readonly state: RunState;
  readonly response: ResponseObject;
}

export function Approvals({ state, response }: ApprovalsProps) {
  // Before the thread is known, they may be decided already.
  if (isRunning(response) || !state.isLoaded.value || approvalRequests(response).length === 0) return null;
  return <AskedApprovals state={state} response={response} />;
}

function AskedApprovals({ state, response }: ApprovalsProps) {
  const decisions = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const isSending = useSignal(false);
  const isLate = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const requests = approvalRequests(response);
  const next = nextRuns(response, state.thread.value).map(({ id }) => id);
  const { value: loaded } = useLoaded(
    (signal) => readOutcome(response, state.thread.peek(), signal),
    [response.id, next.join()],
  );
  const outcome = loaded.value;
  const isOpen = outcome?.type === "open";
  useEffect(() => {
    if (!isOpen) return undefined;
    // Another tab may have decided meanwhile.
    const look = () => {
      if (document.visibilityState === "visible") void state.readThread().catch(() => {});
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [state, isOpen]);
  if (!outcome) return null;
  if (outcome.type !== "open")
    return <OutcomeNotice outcome={outcome} isOne={requests.length === 1} isLate={isLate.value} />;
  const send = async (all: ReadonlyMap<string, boolean>) => {
    isSending.value = true;
    error.value = undefined;
    try {
      // A key is only kept for some time, and not every client sends one: so look first.
      await state.readThread();
      const now = await readOutcome(response, state.thread.peek());
      isLate.value = now.type !== "open";
      if (!isLate.peek()) {
        const headers = { "idempotency-key": decisionKey(response.id) };
        const sent = await post<ResponseObject>("v1/responses", nextRequest(response, requests, all), {
          headers,
        });
        goTo(linkTo("runs", [sent.id]));
      }
    } catch (caught) {
      if (isAbort(caught)) return;
      decisions.value = new Map();
      isLate.value = isDecidedBefore(caught);
      error.value = isLate.peek() ? decidedBefore : messageOf(caught);
      await state.readThread().catch(() => {});
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

const decidedBefore = "It was decided before, in another tab or by another client.";

interface OutcomeNoticeProps {
  readonly outcome: Exclude<DecisionOutcome, { type: "open" }>;
  readonly isOne: boolean;
  /** Whether a decision on this page came after it. */
  readonly isLate: boolean;
}

function OutcomeNotice({ outcome: { type, runId }, isOne, isLate }: OutcomeNoticeProps) {
  const link = <a href={linkTo("runs", [runId])}>the next run</a>;
  return (
    <p class="notice" role={isLate ? "alert" : undefined}>
      {type === "decided" ? (
        <>
          {isOne ? "The call that needed approval was" : "The calls that needed approval were"} answered in{" "}
          {link}.
        </>
      ) : (
        <>The thread went on without a decision, in {link}.</>
      )}
      {isLate && " Your decision came later and was not used."}
    </p>
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

/** The same decisions give the same body, in whichever order they were made: the server compares it. */
function nextRequest(
  response: ResponseObject,
  requests: readonly Item[],
  decisions: ReadonlyMap<string, boolean>,
): object {
  const { metadata = {}, ...request } = sameRequest(response);
  return {
    ...request,
    ...(response.conversation ? {} : { previous_response_id: response.id }),
    background: true,
    metadata: { ...(metadata as object), source: "console" },
    input: requests.map(({ id = "" }) => ({
      type: "mcp_approval_response",
      approval_request_id: id,
      approve: decisions.get(id) === true,
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
