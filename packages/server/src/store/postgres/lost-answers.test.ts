// The connection breaks after the database has done what it was asked for, and before its answer arrives.

import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { events, newResponse, write } from "../testing/build.ts";
import { postgresStore } from "./open.ts";
import { testDatabase } from "./testkit/test-database.ts";

let proxy: Server;
let here: Store;
let there: Store;
/** What a request contains whose answer is lost, once. */
let lost: string | undefined;
/** Called instead of handing on that answer. */
let onLost: () => Promise<unknown>;
beforeAll(async () => {
  const url = new URL(await testDatabase());
  const port = Number(url.port);
  proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    let isDoomed = false;
    client.on("data", (data) => {
      if (lost !== undefined && data.includes(lost)) isDoomed = true;
      if (isDoomed) lost = undefined;
      server.write(data);
    });
    server.on("data", (data) => {
      if (!isDoomed) client.write(data);
      else void onLost().finally(() => client.destroy());
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on("error", () => {}).on("close", () => other.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  there = await postgresStore({ url: url.href });
  url.port = String((proxy.address() as AddressInfo).port);
  here = await postgresStore({ url: url.href });
});
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
  proxy.close();
});

/** Does something whose answer is lost after `meanwhile`. */
async function losing<T>(
  marker: string,
  act: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T> {
  onLost = meanwhile;
  lost = marker;
  const result = await act();
  expect(lost).toBeUndefined();
  return result;
}

test("a response that another node has claimed meanwhile was created", async () => {
  const response = newResponse("resp_claimed", { status: "queued", events: events(0, 0) });
  const claim = () => there.queue.claim("other", { leaseMs: 60_000, limit: 1, id: "resp_claimed" });
  const lease = await losing('"create"', () => here.create(response, "worker", 60_000), claim);
  expect(lease).toEqual({ responseId: "resp_claimed", fence: 0 });
  await there.commit({ ...lease, fence: 1 }, write({ events: events(1, 1) }));
});

test("a commit is done once", async () => {
  const lease = await here.create(newResponse("resp_commit"), "worker", 60_000);
  await losing('"commit"', () => here.commit(lease, write({ events: events(0, 2) })));
  expect(await there.events("ann", "resp_commit", -1, 10)).toEqual(events(0, 2));
});

test("a file is begun, filled, finished and removed once", async () => {
  const { files } = here;
  if (!files) throw new Error("The store has no files.");
  const details = { filename: "notes.txt", purpose: "user_data", expiresAtMs: null };
  const markers = ["file_begun", "some content", "notes.txt"];
  for (const [index, marker] of markers.entries()) {
    const id = index === 0 ? "file_begun" : `file_${index}`;
    const content = (async function* () {
      yield Buffer.from("some content");
    })();
    const file = { id, owner: "ann", createdAtMs: 1 };
    const made = await losing(marker, () => files.create(file, content, () => details));
    expect(await there.files?.get("ann", id)).toEqual(made);
  }
  expect(await losing("file_begun", () => files.remove("ann", "file_begun"))).toBe(true);
  expect(await files.remove("ann", "file_begun")).toBe(false);
});
