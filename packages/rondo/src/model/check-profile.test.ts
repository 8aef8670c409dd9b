import { expect, test } from "vitest";
import { checkProfile } from "./check-profile.ts";
import { commonProfile } from "./profiles.ts";

test("takes a whole profile, and any part of one", () => {
  checkProfile("profile", commonProfile);
  checkProfile("profile", { outputMode: "tool", contextWindow: 8192 });
  expect(() => checkProfile("profile", { startsThinking: undefined } as never)).not.toThrow();
});

test.each([
  [{ outputMode: "prompted" }, 'profile.outputMode: expected one of native, tool, prompt, got "prompted"'],
  [{ sendReasoning: "yes" }, "profile.sendReasoning: expected one of"],
  [{ text: "all" }, "profile.text: expected one of incremental, cumulative"],
  [{ thinkTags: "<think>" }, "profile.thinkTags: expected a list"],
  [{ startsThinking: 1 }, "profile.startsThinking: expected true or false"],
  [{ repairArguments: "no" }, "profile.repairArguments: expected true or false"],
  [{ onlyStreams: "yes" }, "profile.onlyStreams: expected true or false"],
  [{ contextWindow: 0 }, "profile.contextWindow: expected a whole number from 1"],
  [{ ouputMode: "tool" }, "profile.ouputMode: expected one of the options"],
])("refuses %j, and says what was expected", (profile, message) => {
  expect(() => checkProfile("profile", profile as never)).toThrow(message);
});
