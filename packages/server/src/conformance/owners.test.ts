// Two owners use one server at the same time, in any order, and try everything with each other's ids. To each of
// them the other does not exist: an id of the other is as unknown as one that nobody ever had.

import fc from "fast-check";
import { SignJWT } from "jose";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ConfigInput } from "../config/schema.ts";
import { hashKey, newKey } from "../http/auth-keys.ts";
import { newId } from "../protocol/ids.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { echo, Owner } from "./testkit/owners.ts";
import { serverTools, start } from "./testkit/start.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 5);
const timeout = 600_000;
const secret = "a secret that is long enough for HS256";
const issuer = "https://id.example.org";
const keys = new Map(Array.from({ length: 2 * numRuns + 1000 }, (_, n) => [`owner-${n}`, newKey()]));
const auth: NonNullable<ConfigInput["auth"]> = {
  keys: Array.from(keys, ([owner, key]) => ({ owner, hash: hashKey(key) })),
  jwt: { issuer, secret },
};

const credentials: Record<string, (owner: string) => Promise<string>> = {
  keys: async (owner) => keys.get(owner) ?? "",
  tokens: (owner) =>
    new SignJWT({ iss: issuer, sub: owner })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime("1h")
      .sign(Buffer.from(secret)),
};

/** What an owner does. The numbers choose among what there is by then. */
type Action = { by: 0 | 1; pick: number } & (
  | { type: "create"; kind: object; words: string; chains: boolean; refers: boolean }
  | { type: "try" }
  | { type: "remove" }
);

const by = fc.constantFrom(0 as const, 1 as const);
const pick = fc.nat(1000);
const kinds = [{}, { stream: true }, { background: true }, { background: true, stream: true }];
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    type: fc.constant("create" as const),
    by,
    pick,
    kind: fc.constantFrom(...kinds),
    words: fc.constantFrom("Hi.", "What does the clock say?", "Please wait."),
    chains: fc.boolean(),
    refers: fc.boolean(),
  }),
  fc.record({ type: fc.constant("try" as const), by, pick }),
  fc.record({ type: fc.constant("remove" as const), by, pick }),
);

const clients = ["keys", "tokens"].flatMap((who) => ["memory", "sqlite"].map((store) => ({ who, store })));

describe.each(clients)("with $who and the store $store", ({ who, store }) => {
  async function startTwo() {
    const folder = tempFolder();
    onTestFinished(() => folder[Symbol.dispose]());
    const gate = Promise.withResolvers<void>();
    const server = await start({
      script: (request) => echo(request, gate.promise),
      tools: serverTools,
      config: {
        auth,
        store: store === "memory" ? store : `sqlite:${folder.path}/rondo.db`,
        runs: { concurrency: 100 },
      },
    });
    let count = 0;
    const owner = async (name: string) => {
      const credential = await credentials[who]?.(`owner-${count++}`);
      const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
      return new Owner(`${name}-${count}`, async (method, path, body) => {
        const init = body === undefined ? {} : { body: JSON.stringify(body) };
        const response = await fetch(new URL(path, server.baseURL), { method, headers, ...init });
        return { status: response.status, text: await response.text() };
      });
    };
    return { pair: async () => [await owner("ann"), await owner("bob")] as const, release: gate.resolve };
  }

  test("neither can see, use or change anything of the other", { timeout }, async () => {
    const { pair, release } = await startTwo();
    const all: Owner[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 8 }), async (actions) => {
        const owners = await pair();
        all.push(...owners);
        for (const each of actions) await act(each, owners[each.by], owners[1 - each.by] as Owner);
        for (const [owner, other] of [owners, owners.toReversed()] as [Owner, Owner][]) {
          await tryEverything(owner, other);
          await expectOwnView(owner, other);
        }
      }),
      { numRuns },
    );
    // Nobody has ended what waits; now all of it can end.
    release();
    for (const owner of all) {
      await vi.waitFor(async () => {
        const running = (await owner.listed()).filter(({ status }) => status !== "completed");
        expect(running).toEqual([]);
      });
    }
  });

  test("what is one's own can be read, chained, referred to and unsealed", async () => {
    const { pair } = await startTwo();
    const [ann] = await pair();
    const first = await ann.create({
      input: `What does the clock say, ${ann.word}?`,
      include: ["reasoning.encrypted_content"],
    });
    const [call, thought] = first.output;
    expect([call.type, thought.type]).toEqual(["mcp_call", "reasoning"]);
    const bodies = [
      { previous_response_id: first.id, input: "And?" },
      { input: [{ type: "item_reference", id: call.id }, user("And?")] },
      { input: [{ ...call, output: null }, user("And?")] },
      {
        input: [
          { type: "reasoning", summary: [], encrypted_content: thought.encrypted_content },
          { role: "assistant", content: "Yes." },
          user("And?"),
        ],
      },
    ];
    for (const body of bodies) expect(JSON.stringify(await ann.create(body))).toContain(ann.word);
  });
});

async function act(action: Action, owner: Owner, other: Owner): Promise<void> {
  const choose = <T>(values: Iterable<T>): T | undefined => {
    const list = [...values];
    return list[action.pick % Math.max(1, list.length)];
  };
  if (action.type === "try") return tryEverything(owner, other);
  if (action.type === "remove") {
    const id = choose(owner.responses);
    if (id === undefined) return;
    await owner.remove(id);
    return;
  }
  const { kind, words, chains, refers } = action;
  // Only those in the background can wait while others go on.
  const waits = words.includes("wait");
  // A chain of which a part was removed is over.
  const whole = (await owner.listed()).filter(
    (response) => response.status === "completed" && response.previous_response_id === null,
  );
  const previous = chains ? choose(whole) : undefined;
  const own = JSON.stringify(await owner.listed());
  const item = refers ? choose(owner.items.filter(({ id }) => own.includes(id))) : undefined;
  const response = await owner.create({
    ...(waits ? { background: true } : kind),
    input: [...(item ? [{ type: "item_reference", id: item.id }] : []), user(`${words} ${owner.word}`)],
    include: ["reasoning.encrypted_content"],
    ...(previous && { previous_response_id: previous.id }),
  });
  expect(JSON.stringify(response)).not.toContain(other.word);
}

function user(content: string) {
  return { role: "user", content };
}

/** All that can be tried with a response of another. */
const onResponses: readonly ((id: string) => [method: string, path: string, body?: unknown])[] = [
  (id) => ["GET", `/v1/responses/${id}`],
  (id) => ["GET", `/v1/responses/${id}?include=reasoning.encrypted_content`],
  (id) => ["GET", `/v1/responses/${id}?stream=true`],
  (id) => ["GET", `/v1/responses/${id}?stream=true&starting_after=0`],
  (id) => ["GET", `/v1/responses/${id}/input_items`],
  (id) => ["POST", `/v1/responses/${id}/cancel`],
  (id) => ["DELETE", `/v1/responses/${id}`],
  (id) => ["GET", `/v1/responses/${id}/trace`],
  (id) => ["GET", `/v1/runs?after=${id}`],
  (id) => ["GET", `/v1/responses?after=${id}`],
  (id) => ["GET", `/v1/responses?before=${id}&order=asc`],
  ...[{}, { stream: true }, { background: true }, { store: false }].map(
    (kind) => (id: string) =>
      ["POST", "/v1/responses", { ...kind, input: "Hi.", previous_response_id: id }] as [
        string,
        string,
        unknown,
      ],
  ),
  (id) => ["POST", "/v1/responses/input_tokens", { input: "Hi.", previous_response_id: id }],
  (id) => ["POST", "/v1/responses", { input: "Hi.", conversation: id }],
];

/** All that can be tried with an item of another. */
const onItems: typeof onResponses = [
  ...[{}, { stream: true }, { background: true }, { store: false }].flatMap((kind) =>
    [(id: string) => [{ type: "item_reference", id }, user("Hi.")], (id: string) => [{ id }]].map(
      (input) => (id: string) =>
        ["POST", "/v1/responses", { ...kind, input: input(id) }] as [string, string, unknown],
    ),
  ),
  (id) => ["POST", "/v1/responses/input_tokens", { input: [{ type: "item_reference", id }] }],
];

/** Tries everything with all ids of the other: each is answered as one that nobody has. */
async function tryEverything(owner: Owner, other: Owner): Promise<void> {
  const attempts = [
    ...[...other.responses].slice(-2).map((id) => ({ id, tries: onResponses })),
    ...other.items.slice(-2).map(({ id }) => ({ id, tries: onItems })),
  ].flatMap(({ id, tries }) => tries.map((make) => ({ id, make })));
  // All at once, so that they also meet in the store.
  await Promise.all(
    attempts.map(async ({ id, make }) => {
      const nobodys = newId("resp").replace("resp", id.split("_", 1)[0] ?? "");
      const [given, unknown] = await Promise.all([owner.send(...make(id)), owner.send(...make(nobodys))]);
      expect(given.status).toBeOneOf([400, 404]);
      expect(given).toEqual({ ...unknown, text: unknown.text.replaceAll(nobodys, id) });
    }),
  );
  await tryLookups(owner, other);
}

/** What is looked up for a client without being asked for: nothing of the other is found. */
async function tryLookups(owner: Owner, other: Owner): Promise<void> {
  const [call] = other.items.filter(({ type }) => type === "mcp_call").slice(-1);
  const [sealed] = other.sealed.slice(-1);
  const [mine] = [...owner.responses].slice(-1);
  const [theirs] = other.items.slice(-1);
  if (mine && theirs) {
    const nobodys = newId("msg");
    const page = (after: string) => owner.send("GET", `/v1/responses/${mine}/input_items?after=${after}`);
    const unknown = await page(nobodys);
    expect(await page(theirs.id)).toEqual({ ...unknown, text: unknown.text.replaceAll(nobodys, theirs.id) });
  }
  const input = [
    ...(call
      ? [
          {
            type: "mcp_call",
            id: call.id,
            server_label: "local",
            name: "clock",
            arguments: "{}",
            output: null,
          },
        ]
      : []),
    ...(sealed ? [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: sealed }] : []),
    { role: "assistant", content: "Yes." },
    user("Hi."),
  ];
  const { status, text } = await owner.send("POST", "/v1/responses", { input, store: false });
  expect(status).toBe(200);
  expect(text).not.toContain(other.word);
}

/** An owner sees all of its own, as it has left it, and nothing of the other. */
async function expectOwnView(owner: Owner, other: Owner): Promise<void> {
  const listed = await owner.listed();
  expect(new Set(listed.map(({ id }) => id))).toEqual(owner.responses);
  expect(listed.filter(({ status }) => status === "cancelled" || status === "failed")).toEqual([]);
  const seen = [JSON.stringify(listed)];
  for (const id of owner.responses) {
    const items = await owner.send("GET", `/v1/responses/${id}/input_items`);
    expect(items.status).toBe(200);
    seen.push(items.text);
  }
  expect(seen.join()).not.toContain(other.word);
  for (const id of other.ids) expect(seen.join()).not.toContain(id);
}
