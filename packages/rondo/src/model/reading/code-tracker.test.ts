import { expect, test } from "vitest";
import { CodeTracker } from "./code-tracker.ts";

test.each([
  ["", false],
  ["text ", false],
  ["`", true],
  ["`a` ", false],
  ["`a`", false],
  ["``a ` ", true],
  ["`a\n", false],
  ["```", true],
  ["```js\nx\n", true],
  ["```js\nx\n```", true],
  ["```js\nx\n```\n", false],
  ["```js\nx\n``` \n", false],
  ["```js\nx\n```y\n", true],
  ["```js\n~~~\n", true],
  ["````\n```\n", true],
  ["````\n```\n`````\n", false],
  ["  ```\n", true],
  ["a ```\n", false],
  ["```a``` ", false],
  ["~~~\n", true],
  ["~~a~~ ", false],
  ["> ", true],
  ["a\n > b", true],
  ["> a\n", false],
  ["a > b", false],
  ["a\n    ", false],
  ["a\n\n   ", false],
  ["a\n\n    ", true],
  ["a\n\n\tb\n    ", true],
  ["a\n\n    b\n", false],
])("after %j code is %j", (text, isInCode) => {
  const whole = new CodeTracker();
  whole.push(text);
  expect(whole.isInCode).toBe(isInCode);
  const split = new CodeTracker();
  for (const char of text) split.push(char);
  expect(split.isInCode).toBe(isInCode);
});
