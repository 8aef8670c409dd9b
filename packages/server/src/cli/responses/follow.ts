// `rondo responses follow`: what a background response does, as it does it.

import type { StreamEvent } from "../../protocol/events.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { isTerminal } from "../../protocol/status.ts";
import type { ApiClient } from "../api-client.ts";
import { AnswerView } from "../chat/answer-view.ts";
import { ResponseReader } from "../chat/response-reader.ts";
import { cleaner } from "../chat/screen.ts";
import { reasonOf, usageOf } from "../chat/server-partner.ts";
import { type CliIo, Exit, exitCodes } from "../cli-io.ts";
import { watchScreen } from "../watch-screen.ts";
import { followedEvents, type RetryTimes, usualRetries } from "./followed-events.ts";

export interface FollowWishes {
  readonly startingAfter?: number;
  readonly json?: true;
}

/** Follows a response to its end. Throws an `Exit` with 1 unless it has completed, or waits for its caller. */
export async function followResponse(
  io: CliIo,
  api: ApiClient,
  id: string,
  wishes: FollowWishes,
  signal: AbortSignal,
  retries: RetryTimes = usualRetries,
): Promise<void> {
  const now = await api.get(id, signal);
  if (!now.background)
    throw new Error(
      `The response '${id}' was not made with \`background: true\`, so it has no events to follow. \`rondo responses show ${id}\` shows it.`,
    );
  const output = wishes.json ? jsonOutput(io) : textOutput(io);
  let last = wishes.startingAfter ?? -1;
  try {
    const reader = new ResponseReader();
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
      output.event(event, reader);
    }
    // Where nothing came any more, it had ended before the event that was asked for.
    const response = reader.response ?? (await api.get(id, signal));
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
  /** `reader` has to see each event; it throws for one that tells of a failure. */
  event(event: StreamEvent, reader: ResponseReader): void;
  note(text: string): void;
  end(response: ResponseObject): void;
}

function textOutput(io: CliIo): FollowOutput {
  const view = new AnswerView({
    screen: watchScreen(io),
    clean: cleaner(io),
    draw: (text) => io.writeError(text),
  });
  let isCutOff = false;
  return {
    event(event, reader) {
      for (const shown of reader.read(event)) view.show(shown);
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
      const { status, output } = response;
      const calls = output.filter(({ type }) => type === "function_call").length;
      if (status === "requires_action")
        view.show({ type: "notice", text: `It waits for the results of its calls (${calls}).` });
      if (status === "cancelled") view.show({ type: "notice", text: "The response was cancelled." });
      const reason = status === "cancelled" ? "completed" : reasonOf(response);
      view.show({ type: "end", reason, usage: usageOf(response) });
    },
    [Symbol.dispose]: () => view[Symbol.dispose](),
  };
}

/** The events as the server sends them, one a line. */
function jsonOutput(io: CliIo): FollowOutput {
  return {
    event(event, reader) {
      io.write(`${JSON.stringify(event)}\n`);
      for (const _ of reader.read(event));
    },
    note: (text) => io.writeError(`${text}\n`),
    end() {},
    [Symbol.dispose]() {},
  };
}
