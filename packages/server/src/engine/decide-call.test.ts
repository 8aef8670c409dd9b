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
