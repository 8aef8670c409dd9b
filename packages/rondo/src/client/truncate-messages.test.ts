import { expect, test } from "vitest";
import type { Message } from "../model/message.ts";
import { truncateMessages } from "./truncate-messages.ts";

const system: Message = { role: "system", content: "Be brief." };
const turns = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 ? "assistant" : "user",
    content: `${index}`,
  }));

test("a list that is short enough comes back as a copy", () => {
  expect(truncateMessages([])).toEqual([]);
  const messages = [system, ...turns(9)];
  const copy = truncateMessages(messages);
  expect(copy).toEqual(messages);
  expect(copy).not.toBe(messages);
});

test("a longer one keeps the system message and the last messages: 10 by default", () => {
  const messages = [system, ...turns(20)];
  expect(truncateMessages(messages)).toEqual([system, ...messages.slice(-10)]);
  expect(truncateMessages(messages, { keep: 2 })).toEqual([system, ...messages.slice(-2)]);
  expect(truncateMessages(messages, { keep: 20 })).toEqual(messages);
});

test("the system message stays only if it is the first, and with preserveSystem", () => {
  const messages = [system, ...turns(4)];
  expect(truncateMessages(messages, { keep: 2, preserveSystem: false })).toEqual(messages.slice(-2));
  const late = [...turns(4), system, ...turns(4)];
  expect(truncateMessages(late, { keep: 3 })).toEqual(late.slice(-3));
  expect(truncateMessages(turns(6), { keep: 3 })).toEqual(turns(6).slice(-3));
});

test("keep: 0 leaves the system message, or nothing", () => {
  expect(truncateMessages([system, ...turns(4)], { keep: 0 })).toEqual([system]);
  expect(truncateMessages([system, ...turns(4)], { keep: 0, preserveSystem: false })).toEqual([]);
  expect(truncateMessages(turns(4), { keep: 0 })).toEqual([]);
});

test("the original is not changed", () => {
  const messages = [system, ...turns(20)];
  const before = structuredClone(messages);
  truncateMessages(messages, { keep: 3 }).pop();
  expect(messages).toEqual(before);
});

test.each([
  [{ keep: -1 }, "keep: expected a whole number from 0, got -1."],
  [{ keep: 1.5 }, "keep: expected a whole number from 0, got 1.5."],
  [{ keep: "2" }, 'keep: expected a whole number from 0, got "2".'],
  [{ preserveSystem: 1 }, "preserveSystem: expected true or false, got 1."],
  [{ preserve_system: true }, "options.preserve_system: expected one of the options keep, preserveSystem"],
])("%j is refused", (options, message) => {
  expect(() => truncateMessages([], options as object)).toThrow(message);
});

test("anything but a list is refused", () => {
  expect(() => truncateMessages("text" as never)).toThrow(
    'messages: expected a list of messages, got "text".',
  );
});
