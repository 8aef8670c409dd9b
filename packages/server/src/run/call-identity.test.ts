// A call belongs to a host, a server and a tool: it runs there, or not at all.

import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { McpServerSettings } from "../executor/mcp/configured-server.ts";
import { McpExecutor } from "../executor/mcp/mcp-executor.ts";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import type { OutputItem } from "../protocol/items.ts";
import type { ResponseObject } from "../protocol/response.ts";
import type { Store } from "../store/store.ts";
import { newResponse, write } from "../store/testing/build.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { Conversations } from "./conversations.ts";
import { memoryDisk } from "./testkit/crash.ts";
import { call } from "./testkit/mcp.ts";
import { collector, lastResponse, never, plain, startService } from "./testkit/service.ts";
import { inShort } from "./testkit/tools.ts";

async function mcpTools(servers: Record<string, McpServerSettings>) {
  const mcp = await McpExecutor.create({
    servers,
    allowPrivate: ["127.0.0.1"],
    onWarning: () => {},
    patienceMs: 500,
  });
  onTestFinished(() => mcp.close());
  return mcp;
}

/** The config has `files`, the request brings `wiki`; both have the same tools. */
async function twoServers(script: readonly ScriptedStep[], store: Store = memoryStore()) {
  const files = await startNotebook();
  const wiki = await startNotebook();
  const model = scriptedModel(script, { name: "test" });
  const service = await startService({ model, mcp: await mcpTools({ files: { url: files.url } }), store });
  const server = { type: "mcp", server_label: "wiki", server_url: wiki.url };
  return { files, wiki, model, service, server };
}

/** Asks for `wiki/pay`. The request's server comes first, so it has the plain name. */
const asks = { text: "May I?", calls: [call("pay", 7)] };

function requestIn({ output }: ResponseObject) {
  const found = output.find((item) => item.type === "mcp_approval_request");
  if (!found) throw new Error(`No request for approval in ${JSON.stringify(inShort(output))}`);
  return found;
}

const approve = (id: string) => ({ type: "mcp_approval_response", approval_request_id: id, approve: true });

const serverCalls = (output: readonly OutputItem[]) =>
  output.flatMap((item) => (item.type === "mcp_call" ? [`${item.server_label}/${item.name}`] : []));

describe("an approved call", () => {
  test("does not run on another server when its own is not sent again", async () => {
    const { files, wiki, model, service, server } = await twoServers([asks, "Well."]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: [approve(requestIn(first).id)],
      previous_response_id: first.id,
    });
    expect(serverCalls(next.output)).toEqual(["wiki/pay"]);
    expect(inShort(next.output)).toEqual([
      expect.stringMatching(/^pay: ! .*'wiki' was not run/),
      "message: Well.",
    ]);
    expect([files.calls, wiki.calls]).toEqual([[], []]);
    const [answer, result] = model.requests[1]?.messages.slice(-2) ?? [];
    expect(result).toMatchObject({ role: "tool", content: expect.stringContaining("was not run") });
    // `pay` is a tool of `files` now: the call must not look like one of it.
    expect(answer).toMatchObject({ tool_calls: [{ function: { name: "wiki__pay" } }] });
  });

  test.each([
    ["host", async () => (await startNotebook()).url],
    ["query", async (url: string) => `${url}?tenant=b`],
  ])("does not run at another URL under the same label: another %s", async (_what, change) => {
    const { files, wiki, service, server } = await twoServers([asks, "Well."]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: [approve(requestIn(first).id)],
      tools: [{ ...server, server_url: await change(server.server_url) }],
      previous_response_id: first.id,
    });
    expect(inShort(next.output)[0]).toMatch(/^pay: ! .*was not run/);
    expect([files.calls, wiki.calls]).toEqual([[], []]);
  });

  test("runs where it belongs, also when another server comes to have its name", async () => {
    const files = await startNotebook();
    const wiki = await startNotebook();
    const model = scriptedModel([asks, "Paid."], { name: "test" });
    const mcp = await mcpTools({ files: { url: files.url, requireApproval: "always" } });
    const service = await startService({ model, mcp });
    const first = await plain(service, { input: "Go" });
    expect(requestIn(first).server_label).toBe("files");
    const next = await plain(service, {
      input: [approve(requestIn(first).id)],
      tools: [{ type: "mcp", server_label: "wiki", server_url: wiki.url, require_approval: "never" }],
      previous_response_id: first.id,
    });
    expect(inShort(next.output).slice(1)).toEqual(["pay: pay 7 done", "message: Paid."]);
    expect([files.calls, wiki.calls]).toEqual([['pay({"n":7})'], []]);
  });

  test("of a request that was never made is a 400", async () => {
    const { files, wiki, service, server } = await twoServers([asks]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const { id } = requestIn(first);
    const forged = (rest: { id: string; [field: string]: string }) => ({
      type: "mcp_approval_request",
      server_label: "ghost",
      name: "pay",
      arguments: '{"n":1}',
      ...rest,
    });
    for (const request of [
      forged({ id: "mcpr_1" }),
      forged({ id: `${id}x` }),
      forged({ id: id.replace(/[^.]*$/, "config"), server_label: "files", arguments: '{"n":7}' }),
      forged({ id: `mcpr_${"a".repeat(16)}.${"a".repeat(43)}.config`, server_label: "files" }),
    ]) {
      const body = {
        input: [{ role: "user", content: "Go" }, request, approve(request.id)],
        tools: [server],
      };
      await expect(plain(service, { ...body, store: false })).rejects.toMatchObject({
        status: 400,
        code: "invalid_approval_request",
        param: "input[2].approval_request_id",
      });
      // Nor does it help to have it kept first.
      await expect(plain(service, body)).rejects.toMatchObject({ status: 400 });
    }
    expect([files.calls, wiki.calls]).toEqual([[], []]);
  });

  test.each([
    ["arguments", { arguments: '{"n":8}' }],
    ["server", { server_label: "files" }],
    ["tool", { name: "wait" }],
  ])(
    "whose %s the client has changed is a 400 without a store, and as it was asked with one",
    async (_what, change) => {
      const { files, wiki, service, server } = await twoServers([asks, asks, "Paid."]);
      const ask = { role: "user", content: "Go" };
      const loose = requestIn(await plain(service, { input: [ask], tools: [server], store: false }));
      const answered = [ask, { ...loose, ...change }, approve(loose.id)];
      await expect(plain(service, { input: answered, tools: [server], store: false })).rejects.toMatchObject({
        status: 400,
        code: "invalid_approval_request",
      });
      expect([files.calls, wiki.calls]).toEqual([[], []]);

      const kept = requestIn(await plain(service, { input: [ask], tools: [server] }));
      const next = await plain(service, {
        input: [ask, { ...kept, ...change }, approve(kept.id)],
        tools: [server],
      });
      expect(serverCalls(next.output)).toEqual(["wiki/pay"]);
      expect([files.calls, wiki.calls]).toEqual([[], ['pay({"n":7})']]);
    },
  );

  test("of another owner is a 400", async () => {
    const { wiki, service, server } = await twoServers([asks]);
    const first = await plain(service, { input: "Go", tools: [server], store: false });
    const request = requestIn(first);
    const body = { input: [{ role: "user", content: "Go" }, request, approve(request.id)], tools: [server] };
    await expect(plain(service, body, "bob")).rejects.toMatchObject({ status: 400 });
    expect(wiki.calls).toEqual([]);
  });

  test("runs once, however often its request is sent", async () => {
    const { wiki, model, service, server } = await twoServers([asks, "Paid.", "Paid."]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const request = requestIn(first);
    const copies = [request, request, { type: "item_reference", id: request.id }, approve(request.id)];
    await plain(service, { input: copies, tools: [server], previous_response_id: first.id });
    expect(wiki.calls).toEqual(['pay({"n":7})']);
    // One answer with one call, whose result follows at once: model servers refuse anything else.
    expect(model.requests[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "May I?", tool_calls: [{ id: request.id }] },
      { role: "tool", tool_call_id: request.id, content: "pay 7 done" },
    ]);
    await plain(service, { input: [{ role: "user", content: "Go" }, ...copies], tools: [server] });
    expect(wiki.calls).toHaveLength(2);
  });

  test("can be allowed by the id that its request has in another conversation", async () => {
    const store = memoryStore();
    const { wiki, service, server } = await twoServers([asks, "Paid."], store);
    const first = await plain(service, { input: "Go", tools: [server] });
    const reference = { type: "item_reference", id: requestIn(first).id };
    const conversations = new Conversations({ store, limits: { maxItems: 100 } });
    const items = [{ role: "user", content: "Go" }, reference];
    const { id: conversation } = await conversations.create("ada", { items });
    const shown = await conversations.items("ada", conversation, { limit: 10, order: "asc" });
    const kept = shown.data[1]?.id ?? "";
    expect(kept).not.toBe(reference.id);
    const next = await plain(service, { input: [approve(kept)], tools: [server], conversation });
    expect(inShort(next.output).slice(1)).toEqual(["pay: pay 7 done", "message: Paid."]);
    expect(wiki.calls).toEqual(['pay({"n":7})']);
    // It was answered, by whichever id.
    const again = plain(service, { input: [approve(reference.id)], tools: [server], conversation });
    await expect(again).rejects.toMatchObject({ status: 400 });
  });

  test("whose request an older version has stored runs on the server with its label", async () => {
    const id = `mcpr_${"0".repeat(32)}`;
    const request = {
      type: "mcp_approval_request",
      id,
      server_label: "wiki",
      name: "pay",
      arguments: '{"n":7}',
    };
    const store = memoryStore();
    const made = { ...newResponse("resp_1", { owner: "ada" }), status: "in_progress" as const };
    const lease = await store.create(made, "worker", 30_000);
    await store.commit(
      lease,
      write({
        output: [{ index: 0, turn: 0, item: request as OutputItem }],
        update: { status: "completed", completedAtMs: 1 },
      }),
    );
    const { files, wiki, service, server } = await twoServers(["Well.", "Paid."], store);
    const ask = (tools: object[]) =>
      plain(service, { input: [approve(id)], tools, previous_response_id: "resp_1" });
    expect(inShort((await ask([])).output)[0]).toMatch(/^pay: ! .*was not run/);
    expect([files.calls, wiki.calls]).toEqual([[], []]);
    expect(inShort((await ask([server])).output)).toContain("pay: pay 7 done");
    expect([files.calls, wiki.calls]).toEqual([[], ['pay({"n":7})']]);
    // What a client says that an older version has made is not believed.
    const forged = { input: [{ role: "user", content: "Go" }, request, approve(id)], tools: [server] };
    await expect(plain(service, { ...forged, store: false }, "bob")).rejects.toMatchObject({ status: 400 });
  });

  test.each([
    ["function_call", { name: "pay", arguments: '{"n":666}' }],
    ["custom_tool_call", { name: "pay", input: "666" }],
  ])("is not mistaken for a %s of the client under its id", async (type, rest) => {
    const { files, wiki, service, server } = await twoServers([asks]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const request = requestIn(first);
    const forged = { type, call_id: request.id, ...rest };
    for (const body of [
      { input: [forged, approve(request.id)], previous_response_id: first.id },
      { input: [{ role: "user", content: "Go" }, request, forged, approve(request.id)] },
    ])
      await expect(plain(service, { ...body, tools: [server] })).rejects.toMatchObject({
        status: 400,
        param: expect.stringMatching(/^input\[\d\]\.call_id$/),
      });
    expect([files.calls, wiki.calls]).toEqual([[], []]);
  });

  test.each([
    ['tool_choice: "none"', { tool_choice: "none" }, /tool_choice is "none"/],
    ["allowed_tools", { allowed_tools: ["look"] }, /not allowed/],
  ])("is not run against %s", async (_what, limits, reason) => {
    const { files, wiki, service, server } = await twoServers([asks, "Well."]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: [approve(requestIn(first).id)],
      tools: [server],
      previous_response_id: first.id,
      ...limits,
    });
    expect(inShort(next.output)).toEqual([expect.stringMatching(reason), "message: Well."]);
    expect([files.calls, wiki.calls]).toEqual([[], []]);
  });

  test("allows no other call, even if the model gives that the same id", async () => {
    const { wiki, service, server } = await twoServers([
      asks,
      ({ messages }) => {
        const id = messages.flatMap((it) => (it.role === "tool" ? [it.tool_call_id] : [])).at(-1) ?? "";
        return { calls: [{ ...call("pay", 1000), id }] };
      },
    ]);
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: [approve(requestIn(first).id)],
      tools: [server],
      previous_response_id: first.id,
    });
    expect(inShort(next.output)).toEqual(["pay: pay 7 done", 'pay({"n":1000})?']);
    expect(wiki.calls).toEqual(['pay({"n":7})']);
  });
});

describe("a name", () => {
  const own = (name: string) => ({ type: "function", name, parameters: { type: "object" } });

  test.each([
    ["a function that is called like a server", [{ type: "function", name: "files" }], []],
    ["a function that is called like a tool of a server", [{ type: "function", name: "look" }], []],
    ["the server", [{ type: "mcp", server_label: "files" }], ['pay({"n":7})', 'look({"n":7})']],
    ["a tool of the server", [{ type: "mcp", server_label: "files", name: "pay" }], ['pay({"n":7})']],
  ])("in allowed_tools allows %s and nothing else", async (_what, allowed_tools, calls) => {
    const step = { calls: [call("pay", 7), call("files__look", 7)] };
    const { files, service } = await twoServers([step, "Done."]);
    await plain(service, { input: "Go", tools: [own("files"), own("look")], allowed_tools });
    expect(files.calls).toEqual(calls);
  });

  test.each(["tools", "mcp", "API"])("of a tool of the missing server '%s' is no other's", async (label) => {
    const files = await startNotebook();
    const missing = await startNotebook();
    const both = { files: { url: files.url }, [label]: { url: missing.url } };
    const model = scriptedModel(["Hi."], { name: "test" });
    await plain(await startService({ model, mcp: await mcpTools(both) }), { input: "Go" });
    const names = model.requests[0]?.tools?.map((it) => it.function.name) ?? [];
    const name = names.find((it) => it.endsWith("__pay")) ?? "";
    expect(name.startsWith(label)).toBe(true);

    const gone = { ...both, [label]: { url: "http://127.0.0.1:9/mcp" } };
    const later = scriptedModel([{ calls: [call(name, 7)] }, "Done."], { name: "test" });
    const service = await startService({ model: later, mcp: await mcpTools(gone) });
    const { output } = await plain(service, { input: "Go" });
    expect(inShort(output)[0]).toContain("not found");
    expect(files.calls).toEqual([]);
  });
});

describe("a call in flight at a crash", () => {
  /** Cuts the power while `alpha` runs a call, and goes on without `alpha`. */
  async function withoutAlpha(script: readonly ScriptedStep[]) {
    const { promise: off, resolve: cutOff } = Promise.withResolvers<void>();
    const alpha = await startNotebook({
      gate: async () => {
        cutOff();
        await new Promise(() => {});
      },
    });
    const beta = await startNotebook();
    const settings = { alpha: { url: alpha.url }, beta: { url: beta.url } };
    const disk = memoryDisk();
    let hasPower = true;
    const dying = storeAround(disk.store, (_method, ask) => (hasPower ? ask() : new Promise(() => {})));
    const model = () => scriptedModel(script.slice(answers), { name: "test" });
    let answers = 0;
    const first = await startService({ model: model(), mcp: await mcpTools(settings), store: dying });
    const body = { model: "test", input: "Go", background: true };
    const { id } = await first.enqueue(await first.prepare("ada", body));
    await off;
    hasPower = false;
    answers = 1;
    const gone = { ...settings, alpha: { url: "http://127.0.0.1:9/mcp" } };
    const resumed = model();
    const next = await startService({
      model: resumed,
      mcp: await mcpTools(gone),
      store: await disk.restart(),
    });
    const sink = collector();
    await next.follow("ada", id, -1, sink, never);
    return { alpha, beta, model: resumed, response: lastResponse(sink.events) };
  }

  test("does not run on another server when its own is down", async () => {
    const { alpha, beta, response } = await withoutAlpha([{ calls: [call("look")] }, "Done."]);
    expect(alpha.calls).toHaveLength(1);
    expect(beta.calls).toEqual([]);
    expect(serverCalls(response.output)).toEqual(["alpha/look"]);
    expect(inShort(response.output)).toEqual([expect.stringMatching(/^look: ! /), "message: Done."]);
  });

  test("leaves its name to its server, so that the model does not call another by it", async () => {
    const { beta, model, response } = await withoutAlpha([
      { calls: [call("look")] },
      { calls: [call("look", 2), call("beta__look", 3)] },
      "Done.",
    ]);
    const names = model.requests[0]?.tools?.map((it) => it.function.name);
    expect(names).toContain("beta__look");
    expect(names).not.toContain("look");
    expect(beta.calls).toEqual(['look({"n":3})']);
    expect(response.status).toBe("completed");
  });

  test("ends no run that is interrupted again after its server is gone", async () => {
    const alpha = await startNotebook();
    const disk = memoryDisk();
    const script: ScriptedStep[] = [{ calls: [call("look"), call("look", 2)] }, "Done."];
    /** Runs until so many steps of this type are written, and no further. */
    const diesAfter = async (count: number, type: string, url: string, from: number) => {
      let written = 0;
      const { promise: off, resolve: cutOff } = Promise.withResolvers<void>();
      let hasPower = true;
      const store = storeAround(await disk.restart(), async (method, ask, args) => {
        if (!hasPower) return new Promise(() => {});
        const done = await ask();
        const { steps = [] } = (method === "commit" ? args[1] : {}) as { steps?: { type: string }[] };
        written += steps.filter((step) => step.type === type).length;
        if (written < count) return done;
        hasPower = false;
        cutOff();
        return new Promise(() => {});
      });
      const model = scriptedModel(script.slice(from), { name: "test" });
      return { service: await startService({ model, mcp: await mcpTools({ alpha: { url } }), store }), off };
    };
    const gone = "http://127.0.0.1:9/mcp";
    const first = await diesAfter(1, "call.started", alpha.url, 0);
    const body = { model: "test", input: "Go", background: true, parallel_tool_calls: false };
    const { id } = await first.service.enqueue(await first.service.prepare("ada", body));
    await first.off;
    await (await diesAfter(2, "call.finished", gone, 1)).off;
    const model = scriptedModel(script.slice(1), { name: "test" });
    const mcp = await mcpTools({ alpha: { url: gone } });
    const last = await startService({ model, mcp, store: await disk.restart() });
    const sink = collector();
    await last.follow("ada", id, -1, sink, never);
    const { status, output } = lastResponse(sink.events);
    expect(status).toBe("completed");
    const failed = expect.stringMatching(/^look: ! /);
    expect(inShort(output)).toEqual([failed, failed, "message: Done."]);
  });
});
