import { describe, expect, test } from "vitest";
import { memoryStore } from "../store/testkit/memory.ts";
import { call, checked, started } from "./testkit/mcp.ts";
import { plain, stream } from "./testkit/service.ts";
import { inShort } from "./testkit/tools.ts";

describe("a server of the request", () => {
  test("is listed first, and its tools are called under its label", async () => {
    const { service, model, notebook, free } = await started({
      script: [{ text: "Let me see.", calls: [call("look"), call("fail", 2)] }, "Done."],
    });
    const response = checked(await stream(service, { input: "Go", tools: [free] }));
    expect(inShort(response.output)).toEqual([
      "notes: look, pay, fail, wait",
      "message: Let me see.",
      "look: look 1 done",
      "fail: ! No 2.",
      "message: Done.",
    ]);
    expect(response.output[2]).toMatchObject({ server_label: "notes", approval_request_id: null });
    expect(notebook.calls).toEqual(['look({"n":1})', 'fail({"n":2})']);
    expect(model.requests[0]?.tools?.map((it) => it.function.name)).toEqual(["look", "pay", "fail", "wait"]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "No 2." });
  });

  test("is listed again only where its list is not there yet", async () => {
    const { service, notebook, free } = await started({ script: () => "Hi." });
    const first = await plain(service, { input: "Go", tools: [free] });
    const next = await plain(service, { input: "Go", tools: [free], previous_response_id: first.id });
    expect(next.output.map(({ type }) => type)).toEqual(["message"]);
    const input = [...first.output, { role: "user", content: "Go" }];
    const stateless = await plain(service, { input, tools: [free], store: false });
    expect(stateless.output.map(({ type }) => type)).toEqual(["message"]);
    const fewer = { ...free, allowed_tools: ["look"] };
    const changed = await plain(service, { input: "Go", tools: [fewer], previous_response_id: next.id });
    expect(inShort(changed.output)).toEqual(["notes: look", "message: Hi."]);
    expect(notebook.lists.count).toBe(1);
  });

  test("that cannot be listed is a failed list, and the run goes on without it", async () => {
    const { service, model, free } = await started({
      script: "No tools.",
      intercept: () => new Response("no entry for s3cr3t-token", { status: 403 }),
    });
    const tools = [{ ...free, authorization: "s3cr3t-token" }];
    const response = checked(await stream(service, { input: "Go", tools }));
    expect(response.output[0]).toMatchObject({ type: "mcp_list_tools", tools: [] });
    expect(inShort(response.output)[0]).toMatch(/403/);
    expect(JSON.stringify(response)).not.toContain("s3cr3t");
    expect(model.requests[0]?.tools).toBeUndefined();
  });

  test("gets its credentials, which nobody else does", async () => {
    const store = memoryStore();
    const { service, notebook, warnings, free } = await started({ script: () => "Hi.", store });
    const tools = [
      { ...free, authorization: "tok-123456", headers: { "x-team": "blue-team", host: "evil" } },
    ];
    const input = [
      { role: "user", content: "Go" },
      { type: "additional_tools", tools: [{ ...tools[0], server_label: "more" }] },
    ];
    const response = checked(await stream(service, { input, tools }));
    const shown = await service.get("ada", response.id);
    const given = await service.inputItems("ada", response.id, { limit: 20, order: "asc" });
    const kept = (await store.get("ada", response.id))?.request;
    expect(given.data).toHaveLength(2);
    expect(JSON.stringify([response, shown, given, kept, warnings])).not.toMatch(/tok-123456|blue-team/);
    expect(notebook.headers.length).toBeGreaterThan(0);
    for (const headers of notebook.headers) {
      expect(headers.get("authorization")).toBe("Bearer tok-123456");
      expect(headers.get("x-team")).toBe("blue-team");
      expect(headers.get("host")).toBe(`127.0.0.1:${notebook.port}`);
    }
  });

  test("has a connection for each owner and each set of credentials", async () => {
    const { service, notebook, free } = await started({ script: () => "Hi." });
    for (const owner of ["ada", "bob", "ada"]) await plain(service, { input: "Go", tools: [free] }, owner);
    expect(notebook.lists.count).toBe(2);
    const secret = { ...free, authorization: "tok" };
    for (const _ of [1, 2]) await plain(service, { input: "Go", tools: [secret] });
    expect(notebook.lists.count).toBe(3);
  });

  test("has its tools beside functions of the same name", async () => {
    const { service, model, free } = await started({
      script: [{ calls: [{ name: "notes__look", input: { n: 3 } }] }, "Seen."],
    });
    const look = { type: "function", name: "look", parameters: { type: "object", properties: {} } };
    const response = await plain(service, { input: "Go", tools: [look, free] });
    expect(inShort(response.output).slice(1)).toEqual(["look: look 3 done", "message: Seen."]);
    // What comes back is again known to the model by the name that it has.
    await plain(service, { input: "And?", tools: [look, free], previous_response_id: response.id }).catch(
      () => {},
    );
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('"notes__look"');
  });

  test.each([
    ["a list", ["look"], ["look"]],
    ["names", { tool_names: ["pay", "look"] }, ["look", "pay"]],
    ["only what reads", { read_only: true }, ["look"]],
    ["both", { tool_names: ["pay", "look"], read_only: true }, ["look"]],
  ])("offers only what is allowed: %s", async (_what, allowed_tools, names) => {
    const { service, model, free } = await started({ script: "Hi." });
    await plain(service, { input: "Go", tools: [{ ...free, allowed_tools }] });
    expect(model.requests[0]?.tools?.map((it) => it.function.name)).toEqual(names);
  });

  test("can be chosen, as a whole or one of its tools", async () => {
    const { service, model, free } = await started({ script: () => "Hi." });
    const ask = (tool_choice: object) => plain(service, { input: "Go", tools: [free], tool_choice });
    await ask({ type: "mcp", server_label: "notes", name: "pay" });
    await ask({ type: "mcp", server_label: "notes" });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ name: "pay" }, "required"]);
    await expect(ask({ type: "mcp", server_label: "notes", name: "fly" })).rejects.toMatchObject({
      status: 400,
    });
  });

  test("has its own tools chosen and allowed where another server has the same", async () => {
    const calls = [call("look", 1), call("more__look", 2)];
    const { service, model, notebook, free } = await started({ script: ["Hi.", { calls }, "Done."] });
    const tools = [free, { ...free, server_label: "more" }];
    const named = { type: "mcp", server_label: "more", name: "look" };
    await plain(service, { input: "Go", tools, tool_choice: named });
    expect(model.requests[0]?.toolChoice).toEqual({ name: "more__look" });
    await plain(service, { input: "Go", tools, allowed_tools: [named] });
    expect(notebook.calls).toEqual(['look({"n":2})']);
    const absent = { ...named, server_label: "others" };
    await expect(plain(service, { input: "Go", tools, tool_choice: absent })).rejects.toMatchObject({
      status: 400,
      param: "tool_choice",
    });
  });

  test.each([
    [{ server_url: "notes" }, "tools[0].server_url"],
    [{ server_url: "ftp://example.org/" }, "tools[0].server_url"],
    [{ server_url: "http://me:secret@example.org/" }, "tools[0].server_url"],
    [{ server_url: "me:secret@example.org" }, "tools[0].server_url"],
    [{ server_url: "http://10.0.0.1/" }, "tools[0].server_url"],
    [{ headers: { "bad name": "x" } }, "tools[0].headers"],
    [{ headers: { a: "b\nc" } }, "tools[0].headers"],
    [{ authorization: "a\nb" }, "tools[0].authorization"],
    [{ server_url: undefined }, "tools[0].server_label"],
  ])("is refused where it cannot be meant: %j", async (change, param) => {
    const { service, free } = await started({ script: [] });
    const asked = plain(service, { input: "Go", tools: [{ ...free, ...change }] });
    await expect(asked).rejects.toMatchObject({ status: 400, param });
    await expect(asked).rejects.not.toThrow(/secret/);
  });

  test("may not have the label of another", async () => {
    const { service, free } = await started({ script: [] });
    const asked = plain(service, { input: "Go", tools: [free, free] });
    await expect(asked).rejects.toMatchObject({ status: 400, param: "tools[1].server_label" });
  });
});

describe("a server of the config", () => {
  const servers = (url: string) => ({ notes: { url } });

  test("offers its tools to every request, and shows its list to those that name it", async () => {
    const { service, model } = await started({
      servers,
      script: [{ calls: [call("look")] }, "Seen.", "Hi."],
    });
    const response = checked(await stream(service, { input: "Go" }));
    expect(inShort(response.output)).toEqual(["look: look 1 done", "message: Seen."]);
    expect(response.output[0]).toMatchObject({ server_label: "notes" });
    const tools = [{ type: "mcp", server_label: "notes", allowed_tools: ["pay"] }];
    const named = checked(await stream(service, { input: "Go", tools }));
    expect(inShort(named.output)).toEqual(["notes: pay", "message: Hi."]);
    expect(model.requests.at(-1)?.tools?.map((it) => it.function.name)).toEqual(["pay"]);
  });

  test("may be for those only that name it", async () => {
    const { service, model } = await started({
      servers: (url) => ({ notes: { url, offer: "named" } }),
      script: () => "Hi.",
    });
    await plain(service, { input: "Go" });
    await plain(service, { input: "Go", tools: [{ type: "mcp", server_label: "notes" }] });
    expect(model.requests.map(({ tools }) => tools?.length ?? 0)).toEqual([0, 4]);
  });

  test("that is down is a missing tool and one line in the log, and a failed list for who names it", async () => {
    const { service, model, warnings } = await started({
      servers: () => ({ gone: { url: "http://127.0.0.1:1/mcp" }, never: { command: "/no/such/program" } }),
      script: () => "Hi.",
    });
    for (const _ of [1, 2]) await plain(service, { input: "Go" });
    expect(model.requests.map(({ tools }) => tools)).toEqual([undefined, undefined]);
    expect(warnings).toHaveLength(2);
    expect(warnings.toSorted()).toEqual([
      expect.stringMatching(/'gone'.*missing/),
      expect.stringMatching(/'never'.*missing/),
    ]);
    const named = checked(
      await stream(service, { input: "Go", tools: [{ type: "mcp", server_label: "gone" }] }),
    );
    expect(named.output[0]).toMatchObject({ type: "mcp_list_tools", server_label: "gone", tools: [] });
  });

  test("asks for approval as the config says, and as the request says besides", async () => {
    const { service } = await started({
      servers: (url) => ({ notes: { url, requireApproval: ["pay"] } }),
      script: () => ({ calls: [call("pay"), call("look")] }),
    });
    const plainly = await plain(service, { input: "Go" });
    expect(inShort(plainly.output)).toEqual(["look: look 1 done", 'pay({"n":1})?']);
    const named = { type: "mcp", server_label: "notes", require_approval: "always" };
    const strictly = await plain(service, { input: "Go", tools: [named] });
    expect(inShort(strictly.output).slice(1)).toEqual(['pay({"n":1})?', 'look({"n":1})?']);
    const loosely = await plain(service, { input: "Go", tools: [{ ...named, require_approval: "never" }] });
    expect(inShort(loosely.output).slice(1)).toEqual(["look: look 1 done", 'pay({"n":1})?']);
  });
});
