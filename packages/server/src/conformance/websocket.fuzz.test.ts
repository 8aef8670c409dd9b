import { connect } from "node:net";
import fc from "fast-check";
import { tool } from "rondo";
import type { ScriptedAnswer } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { framesOf } from "./testkit/frames.ts";
import { errorFlaws, orderFlaws, SocketClient, socketFlaws, type Wire } from "./testkit/socket-client.ts";
import { start, type TestServer } from "./testkit/start.ts";

const ask = { model: "test", input: "Hi" };

async function open(server: TestServer): Promise<SocketClient> {
  const client = await SocketClient.open(server.baseURL);
  onTestFinished(() => client.socket.terminate());
  return client;
}

describe("whatever comes in a frame", () => {
  const valid = JSON.stringify({
    type: "response.create",
    ...ask,
    tools: [{ type: "custom", name: "patch" }],
    response: { store: false },
  });
  const cut = fc.nat(valid.length).map((end) => valid.slice(0, end));
  const garbled = fc
    .tuple(fc.nat(valid.length - 1), fc.string({ unit: "grapheme", maxLength: 3 }))
    .map(([at, text]) => valid.slice(0, at) + text + valid.slice(at + 1));
  const odd = fc
    .tuple(
      fc.constantFrom("response.create", "response.cancel", "x"),
      fc.dictionary(fc.string(), fc.jsonValue()),
    )
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));
  const frame = fc.oneof(cut, garbled, odd, fc.json(), fc.uint8Array({ maxLength: 50 }));

  test("is answered with a response or an error, and the connection stays", async () => {
    const server = await start({ script: () => "Hello." });
    const client = await open(server);
    await fc.assert(
      fc.asyncProperty(frame, async (data) => {
        const from = client.events.length;
        client.socket.send(data, { binary: typeof data !== "string" });
        const { last } = await client.answer();
        const events = client.events.slice(from);
        expect(last.type === "error" ? errorFlaws(last) : orderFlaws(events)).toEqual([]);
      }),
      { numRuns: 150, examples: [[valid], [""], ["null"]] },
    );
    expect((await client.ask(ask)).response.status).toBe("completed");
    // What is no text though it says so is forbidden by the protocol itself.
    client.socket.send(Uint8Array.of(0xff), { binary: false });
    expect((await client.closed).code).toBe(1007);
  });
});

test("whatever bytes come on a connection, others are served", async () => {
  const server = await start({ script: () => "Hello." });
  const { port } = new URL(server.baseURL);
  const handshake = [
    "GET /v1/responses HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");
  const bytes = fc.uint8Array({ maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(bytes, fc.nat(handshake.length), fc.boolean(), async (garbage, end, isWhole) => {
      const socket = connect(Number(port), "127.0.0.1");
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.on("error", () => {}).resume();
      socket.write(isWhole ? handshake : handshake.slice(0, end));
      socket.end(garbage);
      await closed;
    }),
    { numRuns: 40 },
  );
  const client = await open(server);
  expect((await client.ask(ask)).response.status).toBe("completed");
});

describe("any order in which parallel calls end", () => {
  /** What each call does: how many steps it takes, and whether it fails. */
  const call = fc.record({ steps: fc.nat(4), fails: fc.boolean() });
  const turns = fc.array(fc.array(call, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });

  const work = tool(
    "work",
    "Takes its time.",
    { steps: Number, fails: Boolean },
    async ({ steps, fails }: { steps: number; fails: boolean }) => {
      for (let step = 0; step < steps; step++) await new Promise((resolve) => setImmediate(resolve));
      if (fails) throw new Error("It has failed.");
      return `${steps} steps`;
    },
  );

  /** What a client sees, without what differs from run to run. */
  const inShort = (output: readonly Wire[]) =>
    output.map(({ type, status, output: given, content }) => [type, status, given ?? content]);

  test("keeps the numbers of the events without gaps, over WebSocket as over HTTP", async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (plan) => {
        const script = (): ScriptedAnswer[] => [
          ...plan.map((calls, turn) => ({
            text: `Turn ${turn}.`,
            calls: calls.map((input) => ({ name: "work", input })),
          })),
          { text: "Done." },
        ];
        const server = await start({ script: [...script(), ...script()], tools: [work] });
        const client = await SocketClient.open(server.baseURL);
        const { events, response } = await client.ask({ ...ask, store: false });
        expect(socketFlaws(events)).toEqual([]);
        const posted = await server.fetch(`${server.baseURL}/responses`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...ask, store: false, stream: true }),
        });
        const frames = framesOf(await posted.text());
        expect(server.exchanges.flaws()).toEqual([]);
        const last = frames.at(-2)?.data as Wire;
        expect(inShort(response.output)).toEqual(inShort(last.response.output));
        client.socket.terminate();
        await server.close();
      }),
      { numRuns: 20 },
    );
  });
});
