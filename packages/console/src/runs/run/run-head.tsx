// The head of the page of a run: its title and facts, what can be done with it, and the runs before and after it.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf, post, remove } from "../../api/api.ts";
import { isRunning, type ResponseObject } from "../../api/response.ts";
import type { RunSummary } from "../../api/types.ts";
import { goTo, linkTo } from "../../shell/router.ts";
import { useTitle } from "../../shell/title.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { formatNumber, formatTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { ModalDialog } from "../../ui/modal-dialog.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Duration } from "../duration.tsx";
import { forgetList } from "../list/shown-list.ts";
import { CodeDialog } from "./code-dialog.tsx";
import { nextRuns } from "./next-runs.ts";
import type { RunState } from "./run-state.ts";

export interface RunHeadProps {
  readonly state: RunState;
  readonly response: ResponseObject;
}

export function RunHead({ state, response }: RunHeadProps) {
  const summary = state.summary.value;
  const title = summary?.title || response.id;
  useTitle(title);
  const dialog = useSignal<"code" | "delete" | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const close = () => {
    dialog.value = undefined;
  };
  const attempt = async (work: () => Promise<unknown>) => {
    error.value = undefined;
    try {
      await work();
    } catch (caught) {
      error.value = messageOf(caught);
    }
  };
  const isActive = isRunning(response);
  useEffect(() => {
    // The button to cancel is gone, perhaps with the focus.
    if (!isActive && document.activeElement === document.body)
      document.getElementById("main")?.focus({ preventScroll: true });
  }, [isActive]);
  const path = `v1/responses/${encodeURIComponent(response.id)}`;
  const thread = summary?.thread_id;
  return (
    <>
      <div class="page-head run-page-head">
        <a class="button quiet" href={linkTo("runs")} aria-label="All runs">
          <Icon name="runs" />
        </a>
        <h1 class="one-line run-page-title">{title}</h1>
        <StatusBadge status={response.status} />
        <span class="grow" />
        {isActive && (
          <button class="button" type="button" onClick={() => attempt(() => post(`${path}/cancel`))}>
            <Icon name="stop" /> Cancel
          </button>
        )}
        {thread !== undefined && (
          <a class="button" href={linkTo("chat", [thread], { from: response.id })}>
            <Icon name="chat" /> Open in chat
          </a>
        )}
        <button
          class="button"
          type="button"
          onClick={() => {
            dialog.value = "code";
          }}
        >
          <Icon name="copy" /> Copy as code
        </button>
        <button
          class="button danger"
          type="button"
          onClick={() => {
            dialog.value = "delete";
          }}
        >
          Delete
        </button>
      </div>
      <RunFacts response={response} summary={summary} />
      <ThreadLinks response={response} thread={state.thread.value} />
      {error.value !== undefined && <ErrorNotice title="That did not work." message={error.value} />}
      {dialog.value === "code" && <CodeDialog state={state} response={response} onClose={close} />}
      {dialog.value === "delete" && (
        <ModalDialog label="Delete the run" onClose={close}>
          <div class="stack dialog-body">
            <h2>Delete this run?</h2>
            <p>Its input, its output and its trace are removed. Runs after it keep what they read of it.</p>
            <div class="row">
              <button
                class="button danger"
                type="button"
                onClick={async () => {
                  close();
                  await attempt(async () => {
                    await remove(path);
                    forgetList();
                    goTo(linkTo("runs"));
                  });
                }}
              >
                Delete
              </button>
              <button class="button" type="button" onClick={close}>
                Keep it
              </button>
            </div>
          </div>
        </ModalDialog>
      )}
    </>
  );
}

interface RunFactsProps {
  readonly response: ResponseObject;
  readonly summary: RunSummary | undefined;
}

function RunFacts({ response, summary }: RunFactsProps) {
  const { usage, model, background, metadata, created_at: created, completed_at: completed } = response;
  const fromMs = summary?.created_at_ms ?? created * 1_000;
  const toMs = isRunning(response)
    ? null
    : (summary?.completed_at_ms ?? (completed === null ? null : completed * 1_000));
  const cached = usage?.input_tokens_details?.cached_tokens ?? 0;
  return (
    <ul class="run-facts row soft">
      <li>{model}</li>
      <li class="number">
        <Duration fromMs={fromMs} toMs={toMs} status={response.status} />
      </li>
      {usage && (
        <li class="number">
          {formatNumber(usage.input_tokens)} tokens in{cached > 0 && ` (${formatNumber(cached)} cached)`},{" "}
          {formatNumber(usage.output_tokens)} out
        </li>
      )}
      <li class="number">{formatTime(fromMs)}</li>
      {background && <li>background</li>}
      {metadata["source"] && <li>{metadata["source"]}</li>}
      <li class="mono">{response.id}</li>
    </ul>
  );
}

interface ThreadLinksProps {
  readonly response: ResponseObject;
  readonly thread: readonly RunSummary[];
}

/** How many runs that follow are named: each is a branch. */
const maxNext = 5;

function ThreadLinks({ response, thread }: ThreadLinksProps) {
  const at = thread.findIndex(({ id }) => id === response.id);
  const inConversation = response.conversation !== undefined;
  const before = inConversation
    ? thread[at - 1]
    : thread.find(({ id }) => id === response.previous_response_id);
  const after = nextRuns(response, thread);
  if (!before && after.length === 0) return null;
  return (
    <nav class="thread-links row" aria-label="The thread">
      {before && (
        <a href={linkTo("runs", [before.id])} class="one-line">
          ← {before.title || before.id}
        </a>
      )}
      <span class="grow" />
      {after.slice(0, maxNext).map(({ id, title }) => (
        <a key={id} href={linkTo("runs", [id])} class="one-line">
          {title || id} →
        </a>
      ))}
    </nav>
  );
}
