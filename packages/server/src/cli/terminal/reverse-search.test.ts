import { expect, test } from "vitest";
import { ReverseSearch } from "./reverse-search.ts";

const ctrlR = "\u0012";
const prompts = ["git push", "Say hello", "git pull", "hello"];

/** Presses keys. Gives what is in the line, and the keys that the search left over. */
function press(keys: string, text = "") {
  const line = { text, query: "", isSearching: false };
  const search = new ReverseSearch(prompts, {
    get text() {
      return line.text;
    },
    show: (query, found) => Object.assign(line, { query, text: found, isSearching: true }),
    accept: (found) => Object.assign(line, { text: found, isSearching: false }),
  });
  const rest = search.take(keys);
  return { ...line, rest };
}

test.each([
  ["finds the newest prompt that has the text", `${ctrlR}git`, { text: "git push", isSearching: true }],
  ["finds an older one when pressed again", `${ctrlR}git${ctrlR}`, { text: "git pull" }],
  ["stays at the oldest", `${ctrlR}git${ctrlR}${ctrlR}`, { text: "git pull" }],
  ["ignores case", `${ctrlR}HELLO`, { text: "Say hello" }],
  ["keeps the last match while there is none", `${ctrlR}gitx`, { text: "git push", query: "gitx" }],
  ["goes back with its text", `${ctrlR}gitx\u007f\u007f\u007f\u007f`, { text: "", query: "" }],
  [
    "accepts with Enter, which then sends the line",
    `${ctrlR}pull\r`,
    { text: "git pull", isSearching: false, rest: "\r" },
  ],
  ["accepts with an arrow key", `${ctrlR}pull\u001b[C`, { text: "git pull", rest: "\u001b[C" }],
  ["cancels with Ctrl-G", `${ctrlR}pull\u0007more`, { text: "before", rest: "more" }],
  ["passes other keys on", "hi\r", { text: "before", rest: "hi\r", isSearching: false }],
])("%s", (_, keys, expected) => {
  expect(press(keys, "before")).toMatchObject(expected);
});
