// An answer: its items as they come, how it ended, and what can be done with it.

import { linkTo } from "../shell/router.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { formatNumber } from "../ui/format.ts";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { adviceFor, endingOf } from "./advice.ts";
import type { Answer } from "./answer.ts";
import "./answer.css";
import { AnswerItemView } from "./answer-item.tsx";
import { OpenRequests } from "./open-requests.tsx";
import type { Item } from "./wire.ts";

export interface AnswerViewProps {
  readonly answer: Answer;
  readonly isLast: boolean;
  /** Sends the same again, as a branch. */
  readonly onRetry: (() => void) | undefined;
  /** Sends results or decisions. */
  readonly onReply: (items: readonly Item[]) => void;
}

export function AnswerView({ answer, isLast, onRetry, onReply }: AnswerViewProps) {
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
        <AnswerItemView key={item.key} item={item} isJson={isJson} />
      ))}
      <div class="answer-state" role="status">
        {!isOver && (
          <span class="soft row">
            {isWriting ? null : <Spinner />}
            {items.length === 0 ? "Waiting for the model …" : isWriting ? "Writing …" : "Working …"}
          </span>
        )}
        {isOver && <span class="visually-hidden">The answer is complete.</span>}
      </div>
      {isOver && isLast && <OpenRequests answer={answer} onReply={onReply} />}
      <Ending answer={answer} onRetry={onRetry} />
      {isOver && <Footer answer={answer} onRetry={onRetry} />}
    </div>
  );
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
      <div class="notice bad stack" role="alert">
        <strong>There is no complete answer.</strong>
        <p class="message-text">{problem.message}</p>
        <p>{adviceFor(problem.code)}</p>
        {onRetry && (
          <div>
            <button class="button" type="button" onClick={onRetry}>
              Try again
            </button>
          </div>
        )}
      </div>
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
  const { id, model, status, usage, store } = response;
  return (
    <div class="answer-foot small-actions">
      {status !== "completed" && <StatusBadge status={status} />}
      <span class="soft number answer-facts">
        {model}
        {usage && ` · ${formatNumber(usage.output_tokens)} tokens`}
      </span>
      <CopyButton text={text} />
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
