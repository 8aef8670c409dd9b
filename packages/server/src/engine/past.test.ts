import fc from "fast-check";
import { expect, test } from "vitest";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { ChainLink } from "../store/store.ts";
import { type Entry, type MessagesOptions, toMessages } from "./conversation.ts";
import { type Past, Pasts } from "./past.ts";

type Items = readonly object[];

const user = (content: unknown) => ({ type: "message", role: "user", content });
const answer = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const thought = (text: string) => ({ type: "reasoning", summary: [{ type: "summary_text", text }] });
const call = { type: "function_call", call_id: "call_1", name: "add", arguments: "{}" };
const result = { type: "function_call_output", call_id: "call_1", output: "2" };

function link(id: string, input: Items, output: Items): ChainLink {
  return Object.freeze({
    id,
    status: "completed" as const,
    isClosed: false,
    input: input as unknown as InputItem[],
    output: output.map((item, index) => ({ index, turn: 0, item: item as unknown as OutputItem })),
  });
}

/** As the planner puts them together. */
function messagesOf({ entries, messages }: Past, own: readonly Entry[], options: MessagesOptions = {}) {
  return messages
    ? toMessages(own, { ...options, before: messages })
    : toMessages([...entries, ...own], options);
}

const follow = (...items: Items): Entry[] => items.map((item) => ({ item: item as unknown as InputItem }));
const followUps = [
  follow(user("And now?")),
  follow(answer("More."), user("And now?")),
  follow(thought("Hm."), answer("More."), user("And now?")),
  follow(call, result),
  follow({ type: "message", role: "system", content: "Be kind." }, user("And now?")),
];

test("the messages of any chain are those of all its items, whatever was read before", () => {
  const text = fc.string();
  const shapes = fc.oneof(
    fc.tuple(text, text).map(([asked, said]): [Items, Items] => [[user(asked)], [answer(said)]]),
    text.map((said): [Items, Items] => [
      [user([{ type: "input_text", text: said }])],
      [thought(said), answer(said)],
    ]),
    text.map((said): [Items, Items] => [[user(said)], []]),
    text.map((said): [Items, Items] => [[user(said), answer(said)], []]),
    text.map((said): [Items, Items] => [[answer(said)], [answer(said)]]),
    text.map((said): [Items, Items] => [
      [{ type: "message", role: "developer", content: said }],
      [answer(said)],
    ]),
    text.map((said): [Items, Items] => [
      [user([{ type: "input_image", image_url: "data:," }])],
      [thought(said), answer(said)],
    ]),
    fc.constant<[Items, Items]>([[user("Add."), call, result], [answer("2")]]),
    text.map((said): [Items, Items] => [[user(said), thought(said)], []]),
    text.map((said): [Items, Items] => [[user(said)], [thought(said)]]),
    fc.constant<[Items, Items]>([[], []]),
  );
  // Mostly one link more, now and then another branch.
  const steps = fc.array(fc.record({ shape: shapes, back: fc.constantFrom(0, 0, 0, 1, 2, 9) }), {
    maxLength: 15,
  });
  fc.assert(
    fc.property(steps, fc.constantFrom(undefined, "Be brief."), (all, instructions) => {
      const pasts = new Pasts();
      let links: ChainLink[] = [];
      for (const [index, { shape, back }] of all.entries()) {
        links = [...links.slice(0, Math.max(0, links.length - back)), link(`r${index}`, ...shape)];
        const past = pasts.of(links);
        const { entries } = new Pasts().of(structuredClone(links));
        expect(past.entries).toEqual(entries);
        expect(past.items).toEqual(entries.map(({ item }) => item));
        for (const own of followUps)
          expect(messagesOf(past, own, { instructions })).toEqual(
            toMessages([...entries, ...own], { instructions }),
          );
      }
    }),
  );
});

test("the messages of a talk are the same objects with every request", () => {
  const pasts = new Pasts();
  const links = [link("r0", [user("1")], [answer("One.")]), link("r1", [user("2")], [answer("Two.")])];
  const before = pasts.of(links).messages ?? [];
  expect(before).toHaveLength(4);
  const after = pasts.of([...links, link("r2", [user("3")], [answer("Three.")])]).messages ?? [];
  expect(after).toHaveLength(6);
  for (const [index, message] of before.entries()) expect(after[index]).toBe(message);
});

test("a call, a system message or sealed content may depend on what follows", () => {
  for (const input of [[call], [{ type: "message", role: "system", content: "Hi" }]])
    expect(new Pasts().of([link("r0", [user("1"), ...input], [])]).messages).toBeUndefined();
  const sealed = [{ type: "reasoning", summary: [], encrypted_content: "x" }, answer("One.")];
  expect(new Pasts().of([link("r0", [user("1")], sealed)]).messages).toBeUndefined();
});
