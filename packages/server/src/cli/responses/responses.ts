// `rondo responses`: lists, shows, follows and cancels the responses of a Rondo server.

import { Command, InvalidArgumentError, Option } from "commander";
import { isTerminal, responseStatuses } from "../../protocol/status.ts";
import type { ApiClient } from "../api-client.ts";
import { ApiClientError } from "../api-client-error.ts";
import type { CliIo } from "../cli-io.ts";
import { interruptible } from "../interruptible.ts";
import { findId } from "./find-id.ts";
import { type FollowFlags, followResponse } from "./follow.ts";
import type { RetryTimes } from "./followed-events.ts";
import { type ListFlags, listResponses } from "./list.ts";
import { addServerFlags, clientFor, type ServerFlags } from "./server-flags.ts";
import { showResponse } from "./show.ts";

export interface ResponsesFlags {
  /** When to reconnect. Default: after 250 ms, with backoff up to 5 s, for 5 minutes. */
  readonly retries?: RetryTimes;
}

export function responsesCommand(io: CliIo, { retries }: ResponsesFlags = {}): Command {
  const responses = new Command("responses").description(
    "See, follow and cancel the responses of a Rondo server.",
  );
  for (const make of [listCommand, showCommand, followCommand, cancelCommand])
    responses.addCommand(addServerFlags(make(io, retries)));
  return responses.addHelpText("after", examples);
}

const examples = `
Examples:
  rondo responses list --status in_progress
  rondo responses show resp_9f3a1b2c4d5e
  rondo responses follow resp_9f3a1b2c4d5e
  rondo responses list --json | jq -r .id
  rondo responses cancel resp_9f3a1b2c4d5e --server http://127.0.0.1:4500

An id may be cut short as long as it is the only one among the newest that begins so.`;

function listCommand(io: CliIo): Command {
  return new Command("list")
    .description("List the newest responses.")
    .option("--limit <n>", "How many.", wholeNumber(1), 20)
    .addOption(new Option("--status <status>", "Only those in this state.").choices([...responseStatuses]))
    .option("--model <name>", "Only those of this model.")
    .option("--json", "Write one response a line, as JSON.")
    .addHelpText(
      "after",
      `
Examples:
  rondo responses list --limit 5
  rondo responses list --status failed --model qwen3:8b
  rondo responses list | cut -f 1`,
    )
    .action((flags: ListFlags & ServerFlags) =>
      withServer(io, flags, (api, signal) => listResponses(io, api, flags, signal)),
    );
}

function showCommand(io: CliIo): Command {
  return new Command("show")
    .description("Show a response: what it was asked and what came of it.")
    .argument("<id>", "The id, or its beginning.")
    .option("--json", "Write the response as the API has it.")
    .addHelpText(
      "after",
      `
Examples:
  rondo responses show resp_9f3a1b2c4d5e
  rondo responses show resp_9f3a1b2c4d5e --json | jq .usage`,
    )
    .action((id: string, flags: { json?: true } & ServerFlags) =>
      withResponse(io, id, flags, (api, whole, signal) => showResponse(io, api, whole, flags, signal)),
    );
}

function followCommand(io: CliIo, retries?: RetryTimes): Command {
  return new Command("follow")
    .description(
      "Show what a background response does, until it has ended, also over restarts of the server.",
    )
    .argument("<id>", "The id, or its beginning.")
    .option("--starting-after <n>", "Leave out the events up to this number.", wholeNumber(0))
    .option("--json", "Write the events of the API, one JSON object a line.")
    .addHelpText(
      "after",
      `
Examples:
  rondo responses follow resp_9f3a1b2c4d5e
  rondo responses follow resp_9f3a1b2c4d5e --json --starting-after 41

Ctrl-C ends the following, not the response.`,
    )
    .action((id: string, flags: FollowFlags & ServerFlags) =>
      withResponse(io, id, flags, (api, whole, signal) =>
        followResponse(io, api, whole, flags, signal, retries),
      ),
    );
}

function cancelCommand(io: CliIo): Command {
  return new Command("cancel")
    .description("End a response that is not over.")
    .argument("<id>", "The id, or its beginning.")
    .addHelpText("after", "\nExamples:\n  rondo responses cancel resp_9f3a1b2c4d5e")
    .action((id: string, flags: ServerFlags) =>
      withResponse(io, id, flags, async (api, whole, signal) => {
        const { status: before } = await api.get(whole, signal);
        const { status } = await api.cancel(whole, signal);
        if (isTerminal(before)) io.writeError(`The response was over before: it is ${status}.\n`);
        io.write(`${whole}\t${status}\n`);
      }),
    );
}

function withServer(
  io: CliIo,
  flags: ServerFlags,
  work: (api: ApiClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const api = clientFor(io, flags);
  return interruptible(io, (signal) => work(api, signal));
}

function withResponse(
  io: CliIo,
  given: string,
  flags: ServerFlags,
  work: (api: ApiClient, id: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  return withServer(io, flags, async (api, signal) => {
    try {
      await work(api, await findId(api, given, signal), signal);
    } catch (error) {
      if (!(error instanceof ApiClientError) || error.status !== 404) throw error;
      throw new Error(`${error.message} \`rondo responses list\` shows those at ${api.label}.`, {
        cause: error,
      });
    }
  });
}

function wholeNumber(least: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && Number.isSafeInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least}.`);
  };
}
