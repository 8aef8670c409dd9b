import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Block, setLogger, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { ask, blocksOf, callAdd, clientFor, roles } from "./testkit/client-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("interrupt()", () => {
  test("in mid-answer closes the stream and keeps the text, and the client stays usable", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }, "Again."]);
    const client = clientFor(model);
    await client.query("Hi");
    const seen: Block[] = [];
    for await (const block of client.receiveMessages()) {
      seen.push(block);
      await client.interrupt();
    }
    expect(seen).toEqual([{ type: "text", text: "Half " }]);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(client.stopReason).toBe("aborted");
    expect(model.requests[0]?.wasLeft).toBe(true);
    await ask(client, "Again");
  });

  test("from elsewhere ends a pending wait for the model", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise] }]);
    const client = clientFor(model);
    await client.query("Hi");
    const blocks = blocksOf(client);
    await client.interrupt();
    await blocks;
    expect(client.stopReason).toBe("aborted");
  });

  test("while query() still waits for the server changes nothing", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: "Late.", waitFor: gate.promise }, "Hello."]);
    const client = clientFor(model);
    const asking = client.query("Hi");
    await expect.poll(() => model.requests.length).toBe(1);
    await client.interrupt();
    await asking;
    expect(await blocksOf(client)).toEqual([]);
    expect(client.history).toEqual([]);
    await ask(client, "Hi");
  });

  test("while a person is asked for approval does not wait for the answer", async () => {
    const gate = Promise.withResolvers<boolean>();
    let isAsked = false;
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }, "Fine."]);
    const client = clientFor(model, {
      autoExecuteTools: true,
      canUseTool: () => {
        isAsked = true;
        return gate.promise;
      },
    });
    await client.query("Go");
    const blocks = blocksOf(client);
    await expect.poll(() => isAsked).toBe(true);
    await client.interrupt();
    await blocks;
    await ask(client, "Again");
    gate.resolve(true);
    await gate.promise;
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
  });

  test("in manual mode answers the calls that are open", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Fine."]);
    const client = clientFor(model);
    await client.query("Go");
    for await (const block of client.receiveMessages())
      if (block.type === "tool_use") await client.interrupt();
    expect(client.history.at(-1)).toMatchObject({
      role: "tool",
      content: '{"error":"cancelled","tool":"add"}',
    });
    await ask(client, "Again");
  });

  test("before receiving leaves nothing to receive; repeated or idle, it does nothing", async () => {
    using model = scriptedModel(["Hello.", "Again."]);
    const client = clientFor(model);
    await client.interrupt();
    await client.query("Hi");
    await client.interrupt();
    await client.interrupt();
    expect(await blocksOf(client)).toEqual([]);
    expect(await ask(client, "Again")).toEqual([{ type: "text", text: "Again." }]);
  });

  test("while tools run aborts them, and each call has its answer", async () => {
    let isRunning = false;
    const wait = tool("wait", "Waits.", {}, async (_input, { signal }) => {
      isRunning = true;
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    using model = scriptedModel([{ calls: [{ name: "wait" }] }, "Fine."]);
    const client = clientFor(model, { tools: [wait], autoExecuteTools: true });
    await client.query("Go");
    const blocks = blocksOf(client);
    await expect.poll(() => isRunning).toBe(true);
    await client.interrupt();
    await blocks;
    expect(client.history.at(-1)).toMatchObject({
      role: "tool",
      content: '{"error":"cancelled","tool":"wait"}',
    });
    await ask(client, "Again");
  });
});

test("a loop that was interrupted in its body does not end the run of a later query", async () => {
  using model = scriptedModel([{ text: ["Half ", "whole"] }, { text: ["Second ", "answer."] }]);
  const client = clientFor(model);
  await client.query("Hi");
  const interrupted = client.receiveMessages();
  await interrupted.next();
  await client.interrupt();
  await client.query("Again");
  expect(await interrupted.next()).toMatchObject({ done: true });
  expect(await blocksOf(client)).toEqual([
    { type: "text", text: "Second " },
    { type: "text", text: "answer." },
  ]);
  expect(client.stopReason).toBe("completed");
});

describe("a signal", () => {
  test("in mid-answer ends the run like interrupt(), and refuses later queries", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }]);
    const controller = new AbortController();
    const client = clientFor(model, { signal: controller.signal });
    await client.query("Hi");
    const seen: Block[] = [];
    for await (const block of client.receiveMessages()) {
      seen.push(block);
      controller.abort(new Error("enough"));
    }
    expect(seen).toEqual([{ type: "text", text: "Half " }]);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(client.stopReason).toBe("aborted");
    await expect(client.query("Again")).rejects.toThrow("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("before the server accepts the request throws its reason and changes nothing", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: "Late.", waitFor: gate.promise }]);
    const controller = new AbortController();
    const client = clientFor(model, { signal: controller.signal });
    const asking = client.query("Hi");
    await expect.poll(() => model.requests.length).toBe(1);
    controller.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(client.history).toEqual([]);
  });
});

describe("leaving the loop", () => {
  test("closes the stream and keeps what was received", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }]);
    await using client = clientFor(model);
    await client.query("Hi");
    for await (const _ of client.receiveMessages()) break;
    expect(model.requests[0]?.wasLeft).toBe(true);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(client.stopReason).toBe("aborted");
  });

  test("at a tool's result leaves valid history", async () => {
    using model = scriptedModel([{ calls: [callAdd, { name: "fail" }, callAdd] }, "Fine."]);
    const client = clientFor(model, { autoExecuteTools: true });
    await client.query("Go");
    for await (const block of client.receiveMessages()) if (block.type === "tool_use_error") break;
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "tool", "tool"]);
    await ask(client, "Again");
  });
});
