// MiniMax M3's dialect: each tag has a mark before it, arguments are named by their tags, and objects and lists are
// nested tags.

import { type Cursor, literal, type Reading, until, untilWithinName } from "../cursor.ts";
import { type Dialect, type DialectTools, doubtfulCall, type TextCall } from "./dialect.ts";
import { readName } from "./parts.ts";
import { sections } from "./sections.ts";

const mark = "]<]minimax[>[";
/** Deeper arguments are not read. */
const maxDepth = 32;

export const minimaxM3: Dialect = /* @__PURE__ */ sections(
  {
    sections: [`${mark}<tool_call>`],
    begin: [`${mark}<invoke name="`],
    sectionEnds: [`${mark}</tool_call>`],
  },
  readCall,
);

/** A tag that is open, with what it holds so far: text, or named values. */
interface Element {
  readonly name: string;
  readonly members: [name: string, json: string][];
}

function* readCall(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  const name = yield* readName(cursor, tools, '"');
  if (name === undefined || (yield* untilWithinName(cursor, ">"))?.stop === undefined) return undefined;
  const open: Element[] = [{ name: "invoke", members: [] }];
  let doubt: string | undefined;
  for (;;) {
    const { text, stop } = yield* until(cursor, mark);
    if (stop === undefined) return { name, arguments: "", isCut: true };
    const tag = yield* literal(cursor, "</", "<");
    const tagName = yield* untilWithinName(cursor, ">");
    if (tag === undefined || !tagName) return undefined;
    if (tagName.stop === undefined) return { name, arguments: "", isCut: true };
    const element = open.at(-1) as Element;
    if (tag === "<") {
      if (text.trim() !== "") doubt ??= `text before <${tagName.text}>`;
      if (open.length > maxDepth) return undefined;
      open.push({ name: tagName.text, members: [] });
      continue;
    }
    if (tagName.text !== element.name) return undefined;
    open.pop();
    const parent = open.at(-1);
    if (!parent) {
      const json = objectOf(element.members);
      if (json === undefined) doubt ??= "a parameter occurs twice";
      return doubt === undefined && json !== undefined
        ? { name, arguments: json, isCut: false }
        : doubtfulCall(name, doubt ?? "");
    }
    if (element.members.length > 0 && text.trim() !== "") doubt ??= `text after a tag in <${element.name}>`;
    const json = element.members.length > 0 ? nestedValue(element.members) : JSON.stringify(text);
    if (json === undefined) doubt ??= `a tag in <${element.name}> occurs twice`;
    parent.members.push([element.name, json ?? "null"]);
  }
}

/** The elements of a list are all named `item`. */
function nestedValue(members: Element["members"]): string | undefined {
  const isList = members.every(([name]) => name === "item");
  return isList ? `[${members.map(([, json]) => json).join(",")}]` : objectOf(members);
}

/** Undefined when a name occurs twice. */
function objectOf(members: Element["members"]): string | undefined {
  if (new Set(members.map(([name]) => name)).size < members.length) return undefined;
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}
