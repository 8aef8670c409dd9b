import fc from "fast-check";
import { scriptedModel } from "rondo/testing";
import { expect, test } from "vitest";
import { createLogger } from "../log.ts";
import { LogTail } from "./log-tail.ts";
import { start, twoOwners } from "./testkit/start.ts";

const silent = createLogger({ level: "silent" });
const messagesOf = ({ data }: ReturnType<LogTail["read"]>) => data.map(({ message }) => message);

test("keeps the last lines of its level, and gives them by number", () => {
  const tail = new LogTail({ level: "info", maxLines: 3 });
  const logger = tail.around(silent);
  for (const message of ["a", "b", "c", "d"]) logger.info(message);
  logger.debug("not kept");
  expect(messagesOf(tail.read({ limit: 10 }))).toEqual(["b", "c", "d"]);
  expect(messagesOf(tail.read({ limit: 2 }))).toEqual(["c", "d"]);
  expect(messagesOf(tail.read({ after: 0, limit: 2 }))).toEqual(["b", "c"]);
  expect(tail.read({ after: 0, limit: 2 }).next).toBe(3);
  expect(tail.read({ after: 3, limit: 10 })).toMatchObject({
    data: [{ n: 4, level: "info", message: "d" }],
    next: 4,
  });
  expect(tail.read({ after: 4, limit: 10 })).toMatchObject({ data: [], next: 4 });
  // A client that followed the process before this one.
  expect(messagesOf(tail.read({ after: 99, limit: 10 }))).toEqual(["b", "c", "d"]);
});

test("says which process its numbers are of", () => {
  const [first, second] = [new LogTail({ level: "info" }), new LogTail({ level: "info" })];
  const { boot_id: id } = first.read({ limit: 1 });
  first.around(silent).info("a");
  expect(first.read({ after: 0, limit: 1 })).toMatchObject({ boot_id: id, next: 1 });
  expect(second.read({ after: 0, limit: 1 }).boot_id).not.toBe(id);
});

test("is bounded in bytes, whatever a line has", () => {
  const tail = new LogTail({ level: "info", maxChars: 10_000 });
  const logger = tail.around(silent);
  logger.info("old");
  logger.info("x".repeat(9000));
  expect(messagesOf(tail.read({ limit: 10 }))).toEqual(["old", `${"x".repeat(8000)}…`]);
  logger.info("new", { text: "y".repeat(5000) });
  expect(messagesOf(tail.read({ limit: 10 }))).toEqual(["new"]);
  logger.info("z".repeat(20_000));
  expect(tail.read({ limit: 10 }).data).toEqual([]);
});

test("redacts what the log redacts, and describes errors", () => {
  const tail = new LogTail({ level: "info" });
  const logger = tail.around(silent);
  logger.warn("Use Bearer abcdefghijkl.", {
    apiKey: "12345678",
    url: "http://user:pass@host/",
    count: 2,
    none: undefined,
  });
  logger.error("It broke.", {}, new Error("with password=hunter22"));
  const { data } = tail.read({ limit: 10 });
  expect(data[0]).toMatchObject({
    message: "Use Bearer [redacted]",
    fields: { apiKey: "[redacted]", url: "http://[redacted]@host/", count: 2 },
  });
  expect(data[1]?.fields["error"]).toMatch(/^Error: with password=\[redacted\]/);
});

test("reading never fails, and never shows more than was asked for", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          message: fc.string({ unit: "binary" }),
          fields: fc.dictionary(fc.string(), fc.string()),
        }),
      ),
      fc.nat(30),
      fc.integer({ min: 1, max: 30 }),
      (lines, after, limit) => {
        const tail = new LogTail({ level: "info", maxLines: 10 });
        const logger = tail.around(silent);
        for (const { message, fields } of lines) logger.info(message, fields);
        const { data, next } = tail.read({ after, limit });
        expect(data.length).toBeLessThanOrEqual(Math.min(limit, 10));
        expect(next).toBeLessThanOrEqual(lines.length);
      },
    ),
    { numRuns: 50 },
  );
});

test("with keys, each owner gets the lines that name it", async () => {
  const { keys, auth } = twoOwners();
  const { get, post } = await start(
    {
      auth,
      models: { test: scriptedModel([{ text: "1" }, { text: "2" }]) },
      log: { level: "info" },
    },
    { logger: silent },
  );
  await post("/v1/responses", { model: "test", input: "hi" }, keys.ann);
  await post("/v1/responses", { model: "test", input: "ho" }, keys.bob);
  // Logged when the reply is closed, which the client may learn first.
  const linesOf = async (key: string) => (await get("/v1/system/log", key)).body.data;
  for (const [name, key] of Object.entries(keys))
    await expect
      .poll(() => linesOf(key))
      .toMatchObject([
        { message: "request", fields: { owner: `key:${name}`, path: "/v1/responses", status: 200 } },
      ]);
  const { body } = await get("/v1/system/log?limit=1001", keys.ann);
  expect(body.error).toMatchObject({ param: "limit" });
});
