// An answer: its items as they come, how it ended, and what can be done with it.

import { linkTo } from "../shell/router.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { formatNumber } from "../ui/format.ts";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { adviceFor, endingOf } from "./advice.ts";
import type { Answer } from "./answer.ts";
import "./answer.css";
import type { Item } from "../api/response.ts";
import { AnswerItemView } from "./answer-item.tsx";
import { OpenRequests } from "./open-requests.tsx";

export interface AnswerViewProps {
  readonly answer: Answer;
  readonly isLast: boolean;
  /** Whether it is so far up that it is rendered later. */
  readonly isFar: boolean;
  /** Sends the same again, as a branch. */
  readonly onRetry: (() => void) | undefined;
  /** Sends results or decisions. */
  readonly onReply: (items: readonly Item[]) => void;
}

export function AnswerView({ answer, isLast, isFar, onRetry, onReply }: AnswerViewProps) {
  const items = answer.items.value;
  const response = answer.response.value;
  const isOver = answer.isOver.value;
  // Text that grows shows by itself that something happens: an animation beside it would only cost power.
  const isWriting = items.at(-1)?.item.value.type === "message";
  const isJson = response !== undefined && response.text.format.type !== "text";
  return (
    <div class="chat-answer">
      <h2 class="visually-hidden">{response ? `Answer of ${response.model}` : "Answer"}</h2>
      {items.map((item) => (
        <AnswerItemView key={item.key} item={item} isJson={isJson} isLazy={isFar} />
      ))}
      <div class="answer-state" role="status">
        {!isOver && (
          <span class="soft row">
            {isWriting ? null : <Spinner />}
            {items.length === 0 ? "Waiting for the model …" : isWriting ? "Writing …" : "Working …"}
          </span>
        )}
        {isOver && <span class="visually-hidden">{endText(answer)}</span>}
      </div>
      {isOver && isLast && <OpenRequests answer={answer} onReply={onReply} />}
      <Ending answer={answer} onRetry={onRetry} />
      {isOver && <Footer answer={answer} onRetry={onRetry} />}
    </div>
  );
}

/** How the answer ended, for screen readers. */
function endText({ problem, response }: Answer): string {
  const status = response.value?.status;
  if (status === "cancelled" || problem.value?.code === "stopped") return "The answer was stopped.";
  if (problem.value || status === "failed") return "There is no complete answer.";
  if (status === "incomplete") return "The answer ended early.";
  if (status === "requires_action") return "The answer waits for you.";
  return "The answer is complete.";
}

interface EndingProps {
  readonly answer: Answer;
  readonly onRetry: (() => void) | undefined;
}

/** Why the answer is not what it could be. */
function Ending({ answer, onRetry }: EndingProps) {
  const problem = answer.problem.value;
  const response = answer.response.value;
  if (problem)
    return (
      <ErrorNotice
        title="There is no complete answer."
        message={problem.message}
        advice={adviceFor(problem.code)}
        onRetry={onRetry}
      />
    );
  const ending = response && endingOf(response);
  return (
    <>
      {ending !== undefined && <p class="notice warn">{ending}</p>}
      {response?.warnings?.map(({ code, message }) => (
        <p key={code} class="notice warn">
          {message}
        </p>
      ))}
    </>
  );
}

function Footer({ answer, onRetry }: EndingProps) {
  const response = answer.response.value;
  const text = () =>
    answer.items
      .peek()
      .flatMap(({ item, text: said }) => (item.peek().type === "message" ? [said.peek()] : []))
      .join("\n\n");
  if (!response) return null;
  const hasText = answer.items.value.some(
    ({ item, text: said }) => item.value.type === "message" && said.value !== "",
  );
  const { id, model, status, usage, store } = response;
  return (
    <div class="answer-foot small-actions">
      {status !== "completed" && <StatusBadge status={status} />}
      <span class="soft number answer-facts">
        {model}
        {usage && ` · ${formatNumber(usage.output_tokens)} tokens`}
      </span>
      {hasText && <CopyButton text={text} />}
      {onRetry && !answer.problem.value && (
        <button class="button" type="button" onClick={onRetry}>
          <Icon name="branch" />
          Again
        </button>
      )}
      {store && (
        <a class="button" href={linkTo("runs", [id])}>
          <Icon name="runs" />
          Run
        </a>
      )}
    </div>
  );
}
