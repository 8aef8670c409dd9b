import { describe, expect, onTestFinished, test } from "vitest";
import { framesOf } from "./testkit/frames.ts";
import { asSentBack, inShort, type Recorded, recorded, resultsFor } from "./testkit/recorded.ts";
import { SocketClient, socketFlaws, type Wire } from "./testkit/socket-client.ts";
import { start, type TestServer } from "./testkit/start.ts";

function asItems(input: Recorded["body"]["input"]): readonly object[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : input;
}

async function post({ baseURL, fetch }: TestServer, body: object): Promise<Wire> {
  const answer = await fetch(`${baseURL}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  expect({ status: answer.status, text }).toEqual({ status: 200, text });
  return framesOf(text)
    .map(({ data }) => (data as Wire).response)
    .findLast(Boolean);
}

function expectDone(server: TestServer, { toolNames, history }: Recorded): void {
  server.model.assertUsedUp();
  const last = server.model.requests.at(-1);
  expect(last?.tools?.map((it) => it.function.name) ?? []).toEqual(toolNames);
  expect(inShort(last?.messages)).toEqual(history);
}

describe.each(recorded)("$name", (shape) => {
  const { body, turns } = shape;
  const script = turns.map(({ answer }) => answer);

  test("works over HTTP, with all of the conversation in every request", async () => {
    const server = await start({ script });
    const input = [...asItems(body.input)];
    for (const turn of turns) {
      const { output, status } = await post(server, { ...body, input });
      expect(output).toMatchObject(turn.output);
      expect(status).toBe(turn.results ? "requires_action" : "completed");
      input.push(...asSentBack(output), ...resultsFor(output, turn));
    }
    expect(server.exchanges.flaws()).toEqual([]);
    expectDone(server, shape);
  });

  test("works over HTTP with everything stored, and only what is new in every request", async () => {
    const server = await start({ script });
    let next: object = { ...body, store: true };
    for (const turn of turns) {
      const { id, output } = await post(server, next);
      expect(output).toMatchObject(turn.output);
      const kept = await server.fetch(`${server.baseURL}/responses/${id}`);
      expect(((await kept.json()) as Wire).output).toEqual(output);
      next = { ...body, store: true, input: resultsFor(output, turn), previous_response_id: id };
    }
    expect(server.exchanges.flaws()).toEqual([]);
    expectDone(server, shape);
  });

  test.each([
    ["at once", false],
    ["after a warm-up", true],
  ])("works over WebSocket, with only what is new in every request: %s", async (_name, warmsUp) => {
    const server = await start({ script });
    const client = await SocketClient.open(server.baseURL);
    onTestFinished(() => client.socket.terminate());
    let next: object = { ...body };
    if (warmsUp) {
      const { response } = await client.ask({ ...body, generate: false });
      next = { ...body, input: [], previous_response_id: response.id };
    }
    for (const turn of turns) {
      const { events, last, response } = await client.ask(next);
      expect(last.error).toBeUndefined();
      expect(socketFlaws(events)).toEqual([]);
      expect(response.output).toMatchObject(turn.output);
      const input = resultsFor(response.output, turn);
      next = { ...body, input, previous_response_id: response.id };
      client.send({ type: "response.processed", response_id: response.id });
    }
    expectDone(server, shape);
  });
});

test("a client that runs all tools itself gets an answer also where the model never calls them right", async () => {
  const wrong = { calls: [{ name: "exec_command", input: { cmd: 5 } }] };
  const server = await start({
    script: [
      wrong,
      wrong,
      wrong,
      ({ toolChoice }) => ({ text: `Tool choice: ${JSON.stringify(toolChoice)}` }),
    ],
    config: { maxAgenticTurns: 3 },
  });
  const { body } = recorded.find(({ name }) => name === "codex") as Recorded;
  const { status, output } = await post(server, body);
  expect(status).toBe("completed");
  expect(output.at(-1).content[0].text).toBe(`Tool choice: "none"`); // the tools stay in the prompt, for the server's cache
  expect(server.exchanges.flaws()).toEqual([]);
});
