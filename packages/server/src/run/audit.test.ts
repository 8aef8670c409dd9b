// What the audit log has of runs: approvals, refused calls, crashes, and a log that cannot be written.

import { tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { type Audit, AuditUnavailable } from "../audit/audit-log.ts";
import type { AuditFact } from "../audit/fact.ts";
import { memoryDisk, runWithCrashes } from "./testkit/crash.ts";
import { call, started } from "./testkit/mcp.ts";
import { background, never, plain, startService } from "./testkit/service.ts";
import { broken } from "./testkit/tools.ts";

/** A log in memory, which fails while it is told to. */
function memoryAudit() {
  const facts: AuditFact[] = [];
  const state = { isFailing: false };
  const audit: Audit = {
    record: (fact) => facts.push(fact),
    settled: () => (state.isFailing ? Promise.reject(new AuditUnavailable(undefined)) : undefined),
  };
  const told = () => facts.map(({ action }) => action);
  return { audit, facts, state, told };
}

const calls = (id: string, name: string) => ({ calls: [{ id, name, input: {} }] });

describe("a call that needs approval", () => {
  test.each([
    { approve: true, decision: "approval.given", further: ["call.started", "call.ended"] },
    { approve: false, decision: "approval.denied", further: [] },
  ])("is asked for and then $decision, under the same id", async ({ approve, decision, further }) => {
    const { audit, facts, told } = memoryAudit();
    const { service, server } = await started({ script: [{ calls: [call("pay", 7)] }, "Done."], audit });
    const first = await plain(service, { input: "Go", tools: [server] });
    const request = first.output.find(({ type }) => type === "mcp_approval_request");
    const answer = { type: "mcp_approval_response", approval_request_id: request?.id, approve };
    const next = await plain(service, { input: [answer], tools: [server], previous_response_id: first.id });
    expect(told()).toEqual(["approval.asked", "run.ended", decision, ...further, "run.ended"]);
    const id = request?.id?.split(".")[0];
    expect(facts[0]).toMatchObject({
      approvalId: id,
      responseId: first.id,
      tool: { label: "notes", name: "pay" },
    });
    expect(facts[2]).toMatchObject({
      approvalId: id,
      responseId: next.id,
      tool: { label: "notes", name: "pay" },
    });
  });

  test("is not decided about again when a client sends its whole history", async () => {
    const { audit, told } = memoryAudit();
    const script = [{ calls: [call("pay", 7)] }, "Done.", "And more."];
    const { service, server } = await started({ script, audit });
    const first = await plain(service, { input: "Go", tools: [server] });
    const request = first.output.find(({ type }) => type === "mcp_approval_request");
    const answer = { type: "mcp_approval_response", approval_request_id: request?.id, approve: false };
    const asked = [{ role: "user", content: "Go" }, ...first.output, answer];
    const next = await plain(service, { input: asked, tools: [server], store: false });
    await plain(service, {
      input: [...asked, ...next.output, { role: "user", content: "More" }],
      tools: [server],
    });
    expect(told().filter((action) => action === "approval.denied")).toHaveLength(1);
  });
});

test("a call of a run that is left has an outcome too", async () => {
  const { audit, facts, told } = memoryAudit();
  const gate = Promise.withResolvers<void>();
  const wait = tool(
    { name: "wait", description: "Waits.", input: {}, registry: false },
    async (_input, { signal }) => {
      gate.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  );
  const service = await startService({ model: scriptedModel([calls("c1", "wait")]), tools: [wait], audit });
  const controller = new AbortController();
  const running = service.runPlain(
    await service.prepare("ada", { model: "test", input: "Go" }),
    controller.signal,
  );
  await gate.promise;
  controller.abort(new Error("The client is gone."));
  await running;
  expect(told()).toEqual(["call.started", "call.ended", "run.ended"]);
  expect(facts[1]).toMatchObject({ started: 1, outcome: expect.stringMatching(/error|aborted/) });
  expect(facts[2]).toMatchObject({ outcome: "cancelled", owner: "ada" });
});

test("a run that is cut at any commit has each execution, and refuses what it does not run again", async () => {
  const script = [{ calls: [{ name: "pay", input: { n: 1 } }] }, { text: ["Done."] }];
  let resumed = 0;
  let refused = 0;
  for (let at = 1; at <= 6; at += 1) {
    const { audit, facts } = memoryAudit();
    const { executions } = await runWithCrashes({ script, audit }, [{ at, isKept: true }], memoryDisk());
    const of = (action: string) => facts.filter((fact) => fact.action === action);
    expect(of("call.started").length).toBeGreaterThanOrEqual(executions.length);
    expect(of("run.started")[0]).toMatchObject({ owner: "ada", resumed: false });
    resumed += of("run.started").filter((fact) => fact.resumed).length;
    refused += of("call.refused").length;
    const answered =
      of("call.ended").filter(({ outcome }) => outcome === "ok").length + of("call.refused").length;
    expect(answered).toBeGreaterThan(0);
  }
  expect(resumed).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

describe("while the log cannot be written", () => {
  const setUp = async () => {
    const log = memoryAudit();
    let runs = 0;
    const work = tool("work", "Works.", {}, () => {
      runs += 1;
      return "done";
    });
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool" ? "End." : calls("c1", "work"),
    );
    const service = await startService({ model, tools: [work], audit: log.audit });
    return { ...log, service, runs: () => runs };
  };

  test("no tool runs, and the client is told why", async () => {
    const { service, state, runs } = await setUp();
    state.isFailing = true;
    await expect(plain(service, { input: "Go" })).rejects.toMatchObject({
      status: 503,
      code: "audit_unavailable",
    });
    expect(runs()).toBe(0);
    await service.drain(0);
  });

  test("a background run waits, and runs its tool once when it can", { timeout: 20_000 }, async () => {
    const { service, state, runs, facts } = await setUp();
    state.isFailing = true;
    const done = background(service, { input: "Go" });
    await vi.waitFor(() => expect(facts.some(({ outcome }) => outcome === "interrupted")).toBe(true));
    state.isFailing = false;
    const { response } = await done;
    expect(response.status).toBe("completed");
    expect(runs()).toBe(1);
    await service.drain(0);
  });
});

test("a tool that fails ends in an error", async () => {
  const { audit, facts } = memoryAudit();
  const service = await startService({
    model: scriptedModel([calls("c1", "broken"), "Oh."]),
    tools: [broken],
    audit,
  });
  await service.runPlain(await service.prepare("ada", { model: "test", input: "Go" }), never);
  expect(facts[1]).toMatchObject({ action: "call.ended", outcome: "error", tool: { label: "local" } });
});
