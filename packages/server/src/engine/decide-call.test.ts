import { tool } from "rondo";
import { expect, test } from "vitest";
import { Executors } from "../executor/executors.ts";
import { callDecider } from "./decide-call.ts";
import type { Plan } from "./plan.ts";
import { readProgress } from "./resume.ts";

const pay = tool({ name: "pay", description: "Pays.", input: {}, registry: false }, async () => "paid");
const executors = new Executors({ tools: [pay] });
const offer = await executors.offer({ definitions: [], responseId: "resp_1", owner: "ada" });
const plan = { offer, request: { tool_choice: "auto" } } as unknown as Plan;
const { signal } = new AbortController();
const begun = { sequence: 0, data: JSON.stringify({ type: "response.in_progress" }) };

test.each([
  ["nobody has allowed", undefined],
  ["the log does not know", readProgress("resp_1", [], [], [begun])],
])("a call that %s is not run by its name", (_what, progress) => {
  const call = { id: "call_1", name: "pay", tool: pay, input: {}, isOpen: true, signal };
  const decision = callDecider(plan, progress)(call);
  expect(decision).toEqual({
    type: "reject",
    error: expect.stringContaining("not known where this call belongs"),
  });
});

test("a call of an unknown tool lists only those that allowed_tools allows, each once", async () => {
  const own = tool({ name: "own", description: "Ours.", input: {}, registry: false }, async () => 1);
  own.subtool({ name: "part", description: "Its part." }, async () => 2);
  const offered = new Executors({ tools: [pay, own] });
  const call = { id: "call_1", name: "gone", tool: undefined, input: {}, isOpen: false, signal };
  const rejection = { reason: "unknown", error: "The tools are: all." } as const;
  const all = await offered.offer({ definitions: [], responseId: "resp_1", owner: "ada" });
  const request = { tool_choice: "auto", allowed_tools: ["own", "own.part"] };
  const decide = callDecider({ offer: all, request } as unknown as Plan, undefined);
  expect(decide({ ...call, rejection })).toMatchObject({
    type: "reject",
    reason: "unknown",
    error: "Tool 'gone' not found in registry. The tools are: own, own__part.",
  });
  expect(decide({ ...call, name: "", rejection })).toMatchObject({
    error: "The call has no name. The tools are: own, own__part.",
  });
});
