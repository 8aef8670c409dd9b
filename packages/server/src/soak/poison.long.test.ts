// A run that ends or blocks its process, with another one beside it, in real processes that are started again.

import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ResponseObject } from "../protocol/response.ts";
import { isTerminal } from "../protocol/status.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { type poisons, startPoisonModel } from "./testkit/poison-model.ts";
import { Supervisor } from "./testkit/supervisor.ts";

const config = fileURLToPath(new URL("testkit/poison.config.ts", import.meta.url));

interface Case {
  readonly poison: (typeof poisons)[number];
  readonly maxAttempts: string;
  /** How each process must end. Where nobody knows to whom a death is due, there is one more than attempts. */
  readonly deaths: readonly (number | string)[];
  /** What must be said of each. */
  readonly message: string | undefined;
}

test.each<Case>([
  {
    poison: "block",
    maxAttempts: "2",
    deaths: ["SIGKILL", "SIGKILL"],
    message: "the event loop has been blocked for 1000 ms by the run of the response ID in",
  },
  {
    poison: "exit",
    maxAttempts: "1",
    deaths: [3],
    message: "the run of the response ID has ended the process, with the exit code 3",
  },
  {
    poison: "throw",
    maxAttempts: "1",
    deaths: [1],
    message: "the run of the response ID has thrown an error that nobody caught",
  },
  // Nobody sees this one coming.
  { poison: "abort", maxAttempts: "2", deaths: ["SIGABRT", "SIGABRT", "SIGABRT"], message: undefined },
])(
  "a run whose tool does '$poison' to the process fails, and the one beside it completes",
  {
    timeout: 60_000,
  },
  async ({ poison, maxAttempts, deaths, message }) => {
    using folder = tempFolder();
    await using model = await startPoisonModel();
    await using server = new Supervisor({
      folder: folder.path,
      config,
      env: { POISON_MODEL_URL: model.url, RONDO_RUNS_MAX_ATTEMPTS: maxAttempts },
      maxDeaths: 8,
    });
    const url = await server.url;
    const begin = async (input: string) => {
      const body = JSON.stringify({ model: "poison", input, background: true });
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${url}/v1/responses`, { method: "POST", body, headers });
      return ((await reply.json()) as ResponseObject).id;
    };
    const poisoned = await begin(poison);
    await model.asked(poison);
    const innocent = await begin("innocent");
    const ended = (id: string) =>
      server.getUntil<ResponseObject>(`/responses/${id}`, ({ status }) => isTerminal(status));

    expect(await ended(poisoned)).toMatchObject({ status: "failed", error: { code: "too_many_attempts" } });
    expect(await ended(innocent)).toMatchObject({ status: "completed", error: null });

    expect(server.deaths).toEqual(deaths);
    if (message === undefined) return;
    expect(server.stderr.split(message.replace("ID", poisoned))).toHaveLength(deaths.length + 1);
  },
);
