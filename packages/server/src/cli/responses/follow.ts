// `rondo responses follow`: what a background response does, as it does it.

import type { StreamEvent } from "../../protocol/events.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { isTerminal } from "../../protocol/status.ts";
import type { ApiClient } from "../api-client.ts";
import { AnswerView } from "../chat/answer-view.ts";
import { endReasonOf, ServerEvents } from "../chat/chat-events.ts";
import { cleaner, watchScreen } from "../chat/screen.ts";
import { type CliIo, Exit, exitCodes } from "../cli-io.ts";
import { followedEvents, type RetryTimes, usualRetries } from "./followed-events.ts";

export interface FollowFlags {
  readonly startingAfter?: number;
  readonly json?: true;
}

/** Follows a response to its end. Throws an `Exit` with 1 unless it is completed or requires action. */
export async function followResponse(
  io: CliIo,
  api: ApiClient,
  id: string,
  flags: FollowFlags,
  signal: AbortSignal,
  retries: RetryTimes = usualRetries,
): Promise<void> {
  const now = await api.get(id, signal);
  if (!now.background)
    throw new Error(
      `The response '${id}' was not made with \`background: true\`, so it has no events to follow. \`rondo responses show ${id}\` shows it.`,
    );
  const output = flags.json ? jsonOutput(io) : textOutput(io);
  let last = flags.startingAfter ?? -1;
  try {
    let ended: ResponseObject | undefined;
    const events = followedEvents({
      api,
      id,
      startingAfter: last,
      signal,
      retries,
      onConnection: (state) =>
        output.note(
          state === "lost"
            ? "The connection broke off. Trying again until the server is back…"
            : "The server is back.",
        ),
    });
    for await (const event of events) {
      last = event.sequence_number;
      output.event(event);
      if (event.type === "error") throw new Error(event.message);
      if ("response" in event && isTerminal(event.response.status)) ended = event.response;
    }
    // Without such an event, it ended before `startingAfter`.
    const response = ended ?? (await api.get(id, signal));
    if (response.status === "failed") throw new Error(response.error?.message ?? "The response has failed.");
    output.end(response);
    if (response.status !== "completed" && response.status !== "requires_action")
      throw new Exit(exitCodes.failure);
  } catch (error) {
    if (signal.aborted && !isTerminal(now.status)) {
      const rest = last < 0 ? "" : ` --starting-after ${last}`;
      output.note(`The response goes on. To see the rest: rondo responses follow ${id}${rest}`);
    }
    throw error;
  } finally {
    output[Symbol.dispose]();
  }
}

interface FollowOutput extends Disposable {
  event(event: StreamEvent): void;
  note(text: string): void;
  end(response: ResponseObject): void;
}

function textOutput(io: CliIo): FollowOutput {
  const view = new AnswerView({
    screen: watchScreen(io),
    clean: cleaner(io),
    draw: (text) => io.writeError(text),
  });
  const events = new ServerEvents();
  let isCutOff = false;
  return {
    event(event) {
      for (const shown of events.read(event)) view.show(shown);
      if (event.type === "response.output_item.done" && event.item.type === "message") {
        isCutOff = event.item.status === "incomplete";
        view[Symbol.dispose](); // what comes next is another message
      }
      if (event.type === "response.output_item.added" && isCutOff) {
        view.show({ type: "notice", text: "The server was restarted, and the model begins again." });
        isCutOff = false;
      }
    },
    note: (text) => view.show({ type: "notice", text }),
    end(response) {
      const { status, output, usage } = response;
      const calls = output.filter(({ type }) => type === "function_call").length;
      if (status === "requires_action")
        view.show({ type: "notice", text: `It waits for the results of its calls (${calls}).` });
      if (status === "cancelled") view.show({ type: "notice", text: "The response was cancelled." });
      const reason = status === "cancelled" ? "completed" : endReasonOf(response);
      const tokens = usage && { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens };
      view.show({ type: "end", reason, usage: tokens ?? undefined });
    },
    [Symbol.dispose]: () => view[Symbol.dispose](),
  };
}

/** The events as the server sends them, one a line. */
function jsonOutput(io: CliIo): FollowOutput {
  return {
    event: (event) => io.write(`${JSON.stringify(event)}\n`),
    note: (text) => io.writeError(`${text}\n`),
    end() {},
    [Symbol.dispose]() {},
  };
}
