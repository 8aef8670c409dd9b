import { tool } from "rondo";
import { expect, test } from "vitest";
import { offerTools } from "../executor/offer.ts";
import { openCallDecider } from "./open-calls.ts";
import type { Plan } from "./plan.ts";
import { readProgress } from "./resume.ts";

const pay = tool({ name: "pay", description: "Pays.", input: {}, registry: false }, async () => "paid");
const offer = offerTools({ requested: [], local: [pay], executors: [], responseId: "resp_1", owner: "ada" });
const plan = { offer, request: { tool_choice: "auto" } } as unknown as Plan;
const begun = { sequence: 0, data: JSON.stringify({ type: "response.in_progress" }) };

test.each([
  ["nobody has allowed", undefined],
  ["the log does not know", readProgress([], [], [begun])],
])("a call that %s is not run by its name", (_what, progress) => {
  const decision = openCallDecider(plan, progress)({ id: "call_1", name: "pay" });
  expect(decision).toEqual({ error: expect.stringContaining("not known where this call belongs") });
});
