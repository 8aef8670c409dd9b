import { describe, expect, test } from "vitest";
import { memoryStore } from "../store/testkit/memory.ts";
import { Conversations } from "./conversations.ts";
import { call, checked, started } from "./testkit/mcp.ts";
import { background, never, plain, stream } from "./testkit/service.ts";
import { inShort } from "./testkit/tools.ts";

const script = [{ text: "May I?", calls: [call("pay", 7)] }, "Paid."];

/** The answer of a person to the last request of an output. */
function answer(output: readonly { type: string; id: string }[], approve: boolean, reason?: string) {
  const id = output.findLast(({ type }) => type === "mcp_approval_request")?.id;
  return { type: "mcp_approval_response", approval_request_id: id, approve, ...(reason && { reason }) };
}

describe("a call that needs approval", () => {
  test("ends the run with a request for it, and nothing is called", async () => {
    const { service, notebook, server } = await started({ script: script.slice(0, 1) });
    const response = checked(await stream(service, { input: "Go", tools: [server] }));
    expect(response.status).toBe("completed");
    expect(inShort(response.output).slice(1)).toEqual(["message: May I?", 'pay({"n":7})?']);
    expect(response.output[2]).toMatchObject({ id: expect.stringMatching(/^mcpr_/), server_label: "notes" });
    expect(notebook.calls).toEqual([]);
  });

  test("is run when it is allowed, and the model goes on with its result", async () => {
    const { service, model, notebook, server } = await started({ script });
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = checked(
      await stream(service, {
        input: [answer(first.output, true)],
        tools: [server],
        previous_response_id: first.id,
      }),
    );
    expect(inShort(next.output)).toEqual(["pay: pay 7 done", "message: Paid."]);
    expect(next.output[0]).toMatchObject({ approval_request_id: first.output[2]?.id, status: "completed" });
    expect(notebook.calls).toEqual(['pay({"n":7})']);
    expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "May I?", tool_calls: [{ function: { name: "pay" } }] },
      { role: "tool", content: "pay 7 done" },
    ]);
  });

  test("is told to the model as denied, with the reason", async () => {
    const { service, model, notebook, server } = await started({ script: [script[0] ?? "", "All right."] });
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = checked(
      await stream(service, {
        input: [answer(first.output, false, "too dear")],
        tools: [server],
        previous_response_id: first.id,
      }),
    );
    expect(inShort(next.output)).toEqual(["message: All right."]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "The user has not allowed this call, so it was not run: too dear",
    });
    expect(notebook.calls).toEqual([]);
  });

  test("that nobody answers is not run, and holds nothing up", async () => {
    const { service, model, notebook, server } = await started({
      script: [script[0] ?? "", "Never mind.", "Still here."],
    });
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: "Forget it.",
      tools: [server],
      previous_response_id: first.id,
    });
    expect(inShort(next.output)).toEqual(["message: Never mind."]);
    expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
      { role: "tool", content: "Nobody has allowed this call, so it was not run." },
      { role: "user", content: "Forget it." },
    ]);
    const late = { input: [answer(first.output, true)], tools: [server], previous_response_id: next.id };
    await expect(plain(service, late)).rejects.toMatchObject({ status: 400 });
    await plain(service, { input: "Hello?", previous_response_id: next.id });
    expect(notebook.calls).toEqual([]);
  });

  test("is answered once, and by its own id", async () => {
    const { service, notebook, server } = await started({ script: [...script, "More?"] });
    const first = await plain(service, { input: "Go", tools: [server] });
    const yes = answer(first.output, true);
    const ask = (input: unknown[], previous_response_id = first.id) =>
      plain(service, { input, tools: [server], previous_response_id });
    await expect(ask([yes, yes])).rejects.toMatchObject({
      status: 400,
      param: "input[1].approval_request_id",
    });
    const unknown = { ...yes, approval_request_id: "mcpr_0" };
    await expect(ask([unknown])).rejects.toMatchObject({
      status: 400,
      param: "input[0].approval_request_id",
    });
    await expect(ask([{ ...yes, approve: "yes" }])).rejects.toMatchObject({ status: 400 });
    const next = await ask([yes]);
    await expect(ask([yes], next.id)).rejects.toMatchObject({ status: 400 });
    expect(notebook.calls).toHaveLength(1);
    // Another owner has no such request.
    const stolen = plain(service, { input: [yes], tools: [server], previous_response_id: first.id }, "bob");
    await expect(stolen).rejects.toMatchObject({ status: 404 });
  });

  test("can be allowed with words, which the model reads too", async () => {
    const { service, model, server } = await started({ script });
    const first = await plain(service, { input: "Go", tools: [server] });
    const input = [answer(first.output, true), { role: "user", content: "But be quick." }];
    const next = checked(await stream(service, { input, tools: [server], previous_response_id: first.id }));
    expect(inShort(next.output)).toEqual(["pay: pay 7 done", "message: Paid."]);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "assistant",
      "tool",
    ]);
  });

  test("is answered by a client that keeps the conversation itself", async () => {
    const { service, notebook, model, server } = await started({ script: [...script, "Bye."] });
    const history: object[] = [{ role: "user", content: "Go" }];
    const ask = async () => {
      const response = checked(await stream(service, { input: history, tools: [server], store: false }));
      history.push(...response.output);
      return response;
    };
    const first = await ask();
    history.push(answer(first.output, true));
    expect(inShort((await ask()).output)).toEqual(["pay: pay 7 done", "message: Paid."]);
    history.push({ role: "user", content: "Thanks." });
    expect(inShort((await ask()).output)).toEqual(["message: Bye."]);
    expect(notebook.calls).toHaveLength(1);
    expect(model.requests[2]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{}] },
      { role: "tool", content: "pay 7 done" },
      { role: "assistant", content: "Paid." },
      { role: "user" },
    ]);
  });

  test("is found again where the history was kept under other ids", async () => {
    const { service, server } = await started({ script: [...script, "Bye."] });
    const first = await plain(service, { input: "Go", tools: [server], store: false });
    const history = [{ role: "user", content: "Go" }, ...first.output];
    // All of the history is stored with this request, and the answer comes with the next one.
    const kept = await plain(service, { input: [...history, answer(first.output, true)], tools: [server] });
    expect(inShort(kept.output)).toEqual(["pay: pay 7 done", "message: Paid."]);
    const next = await plain(service, { input: "Thanks", tools: [server], previous_response_id: kept.id });
    expect(inShort(next.output)).toEqual(["message: Bye."]);
  });

  test("is answered in a conversation", async () => {
    const store = memoryStore();
    const { service, notebook, server } = await started({ script, store });
    const conversations = new Conversations({ store, limits: { maxItems: 100 } });
    const { id: conversation } = await conversations.create("ada", {});
    const first = await plain(service, { input: "Go", tools: [server], conversation });
    const next = await plain(service, { input: [answer(first.output, true)], tools: [server], conversation });
    expect(inShort(next.output)).toEqual(["pay: pay 7 done", "message: Paid."]);
    expect(notebook.calls).toHaveLength(1);
  });

  test("is not run to make the conversation short, and has a result for the model all the same", async () => {
    const { service, model, notebook, server } = await started({ script: [script[0] ?? "", "A summary."] });
    const first = await plain(service, { input: "Go", tools: [server] });
    const body = {
      model: "test",
      input: [answer(first.output, true)],
      tools: [server],
      previous_response_id: first.id,
    };
    await service.compact("ada", body, never);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
    ]);
    expect(notebook.calls).toEqual([]);
  });

  test("is run in the background, too", async () => {
    const { service, server } = await started({ script });
    const first = await background(service, { input: "Go", tools: [server] });
    checked(first);
    const next = await background(service, {
      input: [answer(first.response.output, true)],
      tools: [server],
      previous_response_id: first.response.id,
    });
    expect(inShort(checked(next).output)).toEqual(["pay: pay 7 done", "message: Paid."]);
  });

  test("fails as a call where its server is not named any more", async () => {
    const { service, notebook, server } = await started({ script });
    const first = await plain(service, { input: "Go", tools: [server] });
    const input = [answer(first.output, true)];
    const next = checked(await stream(service, { input, previous_response_id: first.id }));
    expect(inShort(next.output)[0]).toMatch(/^pay: ! .*'pay' of 'notes' was not run/);
    expect(notebook.calls).toEqual([]);
  });

  test("stands beside calls that run at once and calls of the client", async () => {
    const { service, server } = await started({
      script: [{ calls: [call("pay"), call("look", 2), call("own", 3), call("pay", 4)] }, "Done."],
    });
    const own = {
      type: "function",
      name: "own",
      parameters: { type: "object", properties: { n: { type: "integer" } } },
    };
    const tools = [{ ...server, require_approval: { never: { tool_names: ["look"] } } }, own];
    const first = checked(await stream(service, { input: "Go", tools }));
    expect(first.status).toBe("requires_action");
    expect(inShort(first.output).slice(1)).toEqual([
      "look: look 2 done",
      'own({"n":3})',
      'pay({"n":1})?',
      'pay({"n":4})?',
    ]);
    const asked = first.output.filter(({ type }) => type === "mcp_approval_request");
    const called = first.output.find((item) => item.type === "function_call");
    const input = [
      { type: "function_call_output", call_id: called?.call_id, output: "mine" },
      ...asked.map(({ id }, index) => ({
        type: "mcp_approval_response",
        approval_request_id: id,
        approve: index === 1,
      })),
    ];
    const next = checked(await stream(service, { input, tools, previous_response_id: first.id }));
    expect(inShort(next.output)).toEqual(["pay: pay 4 done", "message: Done."]);
  });

  test("is asked for again for the next call of the same tool", async () => {
    const { service, notebook, server } = await started({
      script: [{ calls: [call("pay", 1)] }, { calls: [call("pay", 2)] }, "Done."],
    });
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: [answer(first.output, true)],
      tools: [server],
      previous_response_id: first.id,
    });
    expect(inShort(next.output)).toEqual(["pay: pay 1 done", 'pay({"n":2})?']);
    expect(notebook.calls).toEqual(['pay({"n":1})']);
    const last = await plain(service, {
      input: [answer(next.output, true)],
      tools: [server],
      previous_response_id: next.id,
    });
    expect(inShort(last.output)).toEqual(["pay: pay 2 done", "message: Done."]);
  });

  test.each([
    ["always", ["look", "pay"]],
    ["never", []],
    [{ never: { tool_names: ["pay"] } }, ["look"]],
    [{ never: { read_only: true } }, ["pay"]],
    [{ always: { tool_names: ["pay"] } }, ["pay"]],
    [{ always: { tool_names: ["pay"] }, never: { tool_names: ["look"] } }, ["pay"]],
    [{}, ["look", "pay"]],
    [undefined, ["look", "pay"]],
  ])("is what require_approval says: %j", async (require_approval, asked) => {
    const { service, server } = await started({
      script: () => ({ calls: [call("look"), call("pay")] }),
      maxAgenticTurns: 1,
    });
    const { output } = await plain(service, { input: "Go", tools: [{ ...server, require_approval }] });
    const names = output.flatMap((item) => (item.type === "mcp_approval_request" ? [item.name] : []));
    expect(names).toEqual(asked);
  });

  test("runs also where it is the last thing that the limits allow", async () => {
    const { service, server } = await started({ script, maxAgenticTurns: 1 });
    const first = await plain(service, { input: "Go", tools: [server] });
    const next = await plain(service, {
      input: [answer(first.output, true)],
      tools: [server],
      previous_response_id: first.id,
      max_tool_calls: 1,
    });
    expect(next.status).toBe("completed");
    expect(inShort(next.output)).toEqual(["pay: pay 7 done", "message: Paid."]);
  });

  test("stays in a round of its own where the client sends the whole history", async () => {
    const twoRounds = [{ calls: [call("look", 1)] }, { calls: [call("pay", 7)] }, "Paid."];
    const { service, model, server } = await started({ script: twoRounds });
    const tools = [{ ...server, require_approval: { never: { tool_names: ["look"] } } }];
    const user = { role: "user", content: "Go" };
    const { output } = await plain(service, { input: [user], tools, store: false });
    const input = [user, ...output, answer(output, true)];
    const next = await plain(service, { input, tools, store: false });
    expect(inShort(next.output)).toEqual(["pay: pay 7 done", "message: Paid."]);
    expect(model.requests[2]?.messages).toMatchObject([
      { role: "user" },
      { tool_calls: [{ function: { name: "look" } }] },
      { role: "tool", content: "look 1 done" },
      { tool_calls: [{ function: { name: "pay" } }] },
      { role: "tool", content: "pay 7 done" },
    ]);
  });
});
