import { createServer } from "node:net";
import { type OpenAICompatibleOptions, openaiCompatible } from "rondo";
import { type ServerStep, startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { openaiClient } from "./testkit/openai-clients.ts";
import { start, type TestServer } from "./testkit/start.ts";

interface Fault {
  readonly name: string;
  readonly answer: ServerStep;
  readonly code: string;
  readonly status: number;
  /** Where it is another thing for those who do not stream. */
  readonly plain?: { readonly code: string; readonly status: number };
  readonly limits?: { idleTimeoutMs?: number; maxAnswerBytes?: number };
}

const faults: readonly Fault[] = [
  { name: "says that the request is wrong", answer: { status: 400 }, code: "model_request", status: 400 },
  {
    name: "has a full context window",
    answer: {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            "request (7209 tokens) exceeds the available context size (1024 tokens), try increasing it",
          type: "exceed_context_size_error",
          n_prompt_tokens: 7209,
          n_ctx: 1024,
        },
      },
    },
    code: "context_length_exceeded",
    status: 400,
  },
  { name: "wants another key", answer: { status: 401 }, code: "model_auth", status: 502 },
  { name: "does not know the model", answer: { status: 404 }, code: "model_not_found", status: 404 },
  { name: "hangs up", answer: { hangUp: true }, code: "model_unreachable", status: 503 },
  {
    name: "breaks off",
    answer: { text: ["a", "b"], drop: 2 },
    code: "model_stream_broken",
    status: 502,
    // Of a whole answer nothing has come by then.
    plain: { code: "model_unreachable", status: 503 },
  },
  { name: "sends a page", answer: { body: "<h1>Hi</h1>" }, code: "model_unexpected_answer", status: 502 },
  {
    name: "falls silent",
    answer: { text: "a", stall: 2 },
    code: "model_idle_timeout",
    status: 504,
    limits: { idleTimeoutMs: 50 },
  },
  {
    name: "says too much",
    answer: { text: ["a".repeat(2000), "b"] },
    code: "model_answer_limit",
    status: 502,
    limits: { maxAnswerBytes: 1000 },
  },
];

test.each(faults)("a model server that $name: the client is told, plain and streamed", async (fault) => {
  await using upstream = await startModelServer(fault.answer);
  const server = await startWith({ baseURL: upstream.url, ...fault.limits });
  await expectFailure(server, fault);
});

test("a model server that is not there: the client is told, plain and streamed", async () => {
  const server = await startWith({ baseURL: `http://127.0.0.1:${await closedPort()}/v1` });
  await expectFailure(server, { code: "model_unreachable", status: 503 });
});

function startWith(options: Omit<OpenAICompatibleOptions, "model">): Promise<TestServer> {
  // Without second attempts, for which it would wait.
  const model = openaiCompatible({ model: "test-model", retry: false, ...options });
  return start({ script: [], config: { models: { test: model } } });
}

async function expectFailure(
  server: TestServer,
  { code, status, plain = { code, status } }: Pick<Fault, "code" | "status" | "plain">,
): Promise<void> {
  const client = openaiClient(server);
  const body = { model: "test", input: "Hi." };
  await expect(client.responses.create(body)).rejects.toMatchObject(plain);
  const reading = client.responses
    .create({ ...body, stream: true })
    .then((stream) => Array.fromAsync(stream));
  // The package throws at the event `error`, and reads no further.
  await expect(reading).rejects.toMatchObject({ code });
  const list = (await (await server.fetch(`${server.baseURL}/responses`)).json()) as { data: unknown[] };
  expect(list.data).toMatchObject([
    { status: "failed", error: { code } },
    { status: "failed", error: { code: plain.code } },
  ]);
  expect(server.exchanges.flaws()).toEqual([]);
}

async function closedPort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}
