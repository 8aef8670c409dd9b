import { expect, test } from "vitest";
import { chunk, says } from "./quirk-case.ts";
import { showCase } from "./show-case.ts";

test("a case shows what came in, and what was read of it", () => {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  const outcome = { text: "Hi", ran: [["add", { a: 1 }] as const], usage };
  const calls = { chunks: [chunk({ tool_calls: [] }, "tool_calls")] };
  const answers = [says("H", "i"), { status: 500, raw: ["data: x\n\n"] }, calls];
  expect(showCase({ name: "x", answers, expect: {} }, outcome)).toEqual([
    '    in   {"content":"Hi"} in 2 chunks',
    '         {}, finish_reason "stop"',
    '         {"status":500}',
    '         "data: x\\n\\n"',
    '         {"tool_calls":[]}, finish_reason "tool_calls"',
    '    read text "Hi"',
    '         call add {"a":1}',
    "         usage 3 in, 4 out",
  ]);
});

test("a case without a server or a result says so", () => {
  const outcome = { text: "", ran: [], error: { code: "model_unreachable", message: "No.\nReally." } };
  const lines = showCase({ name: "x", answers: [], isUnreachable: true, expect: {} }, outcome);
  expect(lines).toEqual([
    "    in   nothing: no server listens",
    "    read error model_unreachable: No. Really.",
  ]);
});
