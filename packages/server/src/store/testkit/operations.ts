// Operations on a store as data, so that a property test can make up sequences of them.

import fc from "fast-check";
import type { ResponseStatus } from "../../protocol/status.ts";
import type { Lease } from "../run-queue.ts";
import type { Store } from "../store.ts";
import { events, inputItem, message, newResponse, output, write } from "../testing/build.ts";

/** What happened: the value of a call, or the code of its error. */
export type Outcome = { value: unknown } | { code: unknown };

/** A store under test, with the leases that it has given out, oldest first. */
export interface Subject {
  readonly store: Store;
  readonly leases: Lease[];
}

/** One call. What it gives is compared. */
export interface Operation {
  /** Whose call it is. None: the server's. */
  readonly owner: string | undefined;
  readonly run: (subject: Subject) => Promise<unknown>;
  /** The leases in what it gives. */
  readonly leasesIn: (value: never) => readonly Lease[];
  /** How it is shown when the property fails. */
  readonly [fc.toStringMethod]: () => string;
}

function operation<T>(
  owner: string | undefined,
  text: string,
  run: (subject: Subject) => Promise<T>,
  leasesIn: (value: T) => readonly Lease[] = () => [],
): Operation {
  return { owner, run, leasesIn, [fc.toStringMethod]: () => `${owner ?? "server"}: ${text}` };
}

const conversationIds = fc.constantFrom("c0", "c1");
const responseIds = fc.constantFrom("r0", "r1", "r2", "r3");
const statuses = fc.constantFrom<ResponseStatus>("in_progress", "completed", "cancelled", "requires_action");
// Clients choose the ids of their items: anything may be in them.
const itemNames = ["a", "b", "c", "é\u{1F600}", "'; --", "nul\u0000"];
const itemIds = fc.constantFrom(...itemNames);
const itemStatuses = fc.constantFrom("in_progress" as const, "completed" as const);

/** Response ids are the server's own and never the same for two owners, other than those of items. */
const named = (owner: string, id: string) => `${owner}_${id}`;

function creates(owner: string): fc.Arbitrary<Operation> {
  const given = fc.record({
    id: responseIds,
    previous: fc.option(responseIds),
    status: fc.constantFrom("queued" as const, "in_progress" as const),
    background: fc.boolean(),
    isClosed: fc.boolean(),
    model: fc.constantFrom("small", "large"),
    createdAtMs: fc.integer({ min: 0, max: 3 }),
    title: fc.constantFrom("Ä title\\", "b"),
    source: fc.constantFrom("here", "nul\u0000"),
    input: fc.uniqueArray(itemIds, { maxLength: 2 }),
    firstEvent: fc.constantFrom(0, 0, 0, 1),
    key: fc.option(fc.record({ key: fc.constantFrom("k0", "k1"), keepMs: fc.nat({ max: 300 }) })),
    conversation: fc.option(
      fc.record(
        {
          id: conversationIds.map((id) => named(owner, id)),
          mustBeFree: fc.boolean(),
          version: fc.nat({ max: 2 }),
        },
        { requiredKeys: ["id", "mustBeFree"] },
      ),
    ),
  });
  return given.map(({ id, previous, input, firstEvent, conversation, key, ...rest }) => {
    const response = newResponse(named(owner, id), {
      ...rest,
      ...(conversation && { conversation }),
      ...(key && { idempotency: { ...key, fingerprint: id } }),
      owner,
      previousResponseId: previous === null ? null : named(owner, previous),
      input: input.map((item) => inputItem(item)),
      events: events(firstEvent, 1),
    });
    return operation(
      owner,
      `create ${JSON.stringify(response)}`,
      ({ store }) => store.create(response, "worker-1", 100),
      (lease) => [lease],
    );
  });
}

function commits(owner: string): fc.Arbitrary<Operation> {
  const given = fc.record({
    lease: fc.nat({ max: 5 }),
    events: fc.option(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 2 }))),
    output: fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), itemIds, itemStatuses), { maxLength: 2 }),
    hasSteps: fc.boolean(),
    status: fc.option(statuses, { freq: 3 }),
    isDurable: fc.boolean(),
    traced: fc.option(fc.nat({ max: 3 })),
  });
  return given.map(({ lease, events: place, output: items, hasSteps, status, isDurable, traced }) => {
    const [first, count] = place ?? [0, 0];
    const change = write({
      events: events(first, first + count - 1),
      output: items.map(([index, id, itemStatus]) => output(index, message(id, itemStatus))),
      steps: hasSteps ? [{ step: lease }] : [],
      ...(status && { update: { status } }),
      ...(traced !== null && { trace: { first: traced, last: traced, lines: `{"é":${lease}}` } }),
      isDurable,
    });
    return withLease(owner, `commit ${JSON.stringify(change)}`, lease, (store, held) =>
      store.commit(held, change),
    );
  });
}

function leaseOperations(owner: string): fc.Arbitrary<Operation> {
  const places = fc.nat({ max: 5 });
  return fc.oneof(
    places.map((place) =>
      withLease(owner, "renew", place, (store, lease) => store.queue.renew([lease], 100)),
    ),
    places.map((place) => withLease(owner, "release", place, (store, lease) => store.queue.release(lease))),
    fc
      .tuple(places, fc.boolean())
      .map(([place, hasProgressed]) =>
        withLease(owner, `trust ${hasProgressed}`, place, (store, lease) =>
          store.queue.trust(lease, { hasProgressed }),
        ),
      ),
  );
}

/** A call with a lease that was given some time ago: the newest is at the place 0. */
function withLease(
  owner: string,
  text: string,
  place: number,
  run: (store: Store, lease: Lease) => Promise<unknown>,
): Operation {
  return operation(owner, `${text} with lease ${place}`, async ({ store, leases }) => {
    const lease = leases.at(-1 - place);
    return lease === undefined ? "no lease" : run(store, lease);
  });
}

function others(owner: string): fc.Arbitrary<Operation> {
  const call = (text: string, run: (store: Store, id: string) => Promise<unknown>) =>
    responseIds.map((id) => operation(owner, `${text} ${id}`, ({ store }) => run(store, named(owner, id))));
  return fc.oneof(
    call("remove", (store, id) => store.remove(owner, id)),
    call("chain", async (store, id) => {
      await store.check(); // reads are not in line with the writes of their tick; this one is
      return store.chain(owner, id);
    }),
    call("requestCancel", (store, id) => store.requestCancel(owner, id)),
    call("keepSecret", (store, id) => store.keepSecret(named(owner, "secret"), id)),
  );
}

function conversations(owner: string): fc.Arbitrary<Operation> {
  const items = fc.array(itemIds, { maxLength: 2 }).map((ids) => ids.map((id) => inputItem(id, "Given.")));
  const call = (
    text: string,
    run: (store: Store, id: string, given: ReturnType<typeof inputItem>[]) => Promise<unknown>,
  ) =>
    fc
      .tuple(conversationIds, items)
      .map(([id, given]) =>
        operation(owner, `${text} ${id} ${JSON.stringify(given)}`, ({ store }) =>
          run(store, named(owner, id), given),
        ),
      );
  const create = call("createConversation", (store, id, given) =>
    store.createConversation({ id, owner, createdAtMs: given.length, metadata: {}, items: given }),
  );
  return fc.oneof(
    { arbitrary: create, weight: 3 },
    call("updateConversation", (store, id, given) =>
      store.updateConversation(owner, id, { count: `${given.length}` }),
    ),
    call("removeConversation", (store, id) => store.removeConversation(owner, id)),
    call("addConversationItems", (store, id, given) => store.addConversationItems(owner, id, given)),
    call("removeConversationItem", (store, id, given) =>
      store.removeConversationItem(owner, id, given[0]?.id ?? "a"),
    ),
  );
}

/** A claim is for all owners. */
const claims = fc
  .record(
    {
      leaseMs: fc.constant(100),
      limit: fc.integer({ min: 1, max: 3 }),
      id: fc.tuple(fc.constantFrom("ann", "bob"), responseIds).map(([owner, id]) => named(owner, id)),
      suspects: fc.constantFrom("none" as const, "only" as const),
    },
    { requiredKeys: ["leaseMs", "limit"] },
  )
  .map((options) =>
    operation(
      undefined,
      `claim ${JSON.stringify(options)}`,
      ({ store }) => store.queue.claim("worker-2", options),
      (claimed) => claimed.map(({ responseId, fence }) => ({ responseId, fence })),
    ),
  );

const expiries = fc
  .integer({ min: 0, max: 300 })
  .map((beforeMs) => operation(undefined, `expire ${beforeMs}`, ({ store }) => store.expire(beforeMs)));

const expiryOfLeases = fc.constant(
  operation(undefined, "nextExpiryMs", async ({ store }) => {
    await store.check(); // reads are not in line with the writes of their tick; this one is
    return store.queue.nextExpiryMs();
  }),
);

/** Writes that concern one owner only. */
export function writesOf(owner: string): fc.Arbitrary<Operation> {
  return fc.oneof(
    { arbitrary: creates(owner), weight: 4 },
    { arbitrary: commits(owner), weight: 8 },
    { arbitrary: leaseOperations(owner), weight: 1 },
    { arbitrary: others(owner), weight: 2 },
    { arbitrary: conversations(owner), weight: 3 },
  );
}

/** All writes, of all owners and of the server. */
export function allWrites(owners: readonly string[]): fc.Arbitrary<Operation> {
  return fc.oneof(
    { arbitrary: fc.oneof(...owners.map(writesOf)), weight: 8 },
    { arbitrary: claims, weight: 1 },
    { arbitrary: expiries, weight: 1 },
    { arbitrary: expiryOfLeases, weight: 1 },
  );
}

/** Calls that are made in one tick each, some of them a while after the one before. */
export const ticks = <T>(operation: fc.Arbitrary<T>) =>
  fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 0, 0, 60),
      operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 5, maxLength: 25 },
  );

/** Starts all calls in one tick, and gives what became of each. */
export async function runTogether(subject: Subject, operations: readonly Operation[]): Promise<Outcome[]> {
  const results = await Promise.allSettled(operations.map((each) => each.run(subject)));
  return results.map((result, i) => {
    if (result.status === "rejected") return { code: result.reason?.code ?? result.reason };
    subject.leases.push(...(operations[i]?.leasesIn(result.value as never) ?? []));
    return { value: result.value };
  });
}

/** Everything that an owner can see. */
export async function allOf({ store }: Subject, owner: string): Promise<unknown> {
  const pages = [];
  for (const order of ["asc", "desc"] as const) {
    const { data } = await store.list(owner, { limit: 100, order });
    for (const { id } of data) {
      pages.push(await store.list(owner, { limit: 1, order, after: id, background: true }));
      pages.push(await store.list(owner, { limit: 1, order, before: id, model: "small" }));
    }
  }
  const { data } = await store.list(owner, { limit: 100, order: "asc" });
  const details = await Promise.all(
    data.map(async ({ id }) => ({
      response: await store.get(owner, id),
      input: await store.input(owner, id, { limit: 100, order: "asc" }),
      output: await store.output(owner, id),
      events: await store.events(owner, id, -1, 100),
      chain: await store.chain(owner, id),
      trace: await store.trace(owner, id, 0),
      thread: await store.listRuns(owner, { limit: 2, order: "desc", thread: id }),
    })),
  );
  const runs = await Promise.all(
    [
      {},
      { onlyRoots: true, background: true },
      { search: "ä T", status: "completed" as const },
      { search: "\\" },
      { source: "nul\u0000", model: "small" },
      { thread: named(owner, "c0") },
    ].map((filter) => store.listRuns(owner, { limit: 2, order: "desc", ...filter })),
  );
  const items = await store.items(owner, itemNames);
  const keys = await Promise.all(["k0", "k1"].map((key) => store.findByKey(owner, key)));
  const talks = await Promise.all(
    ["c0", "c1"].map(async (name) => {
      const id = named(owner, name);
      return {
        head: await store.getConversation(owner, id),
        history: await store.readConversation(owner, id),
        items: await store.listConversationItems(owner, id, { limit: 2, order: "desc" }),
        item: await store.getConversationItem(owner, id, "a"),
      };
    }),
  );
  return {
    talks,
    data,
    runs,
    keys,
    pages,
    details,
    items: items.map((item) => JSON.stringify(item)).toSorted(),
  };
}
