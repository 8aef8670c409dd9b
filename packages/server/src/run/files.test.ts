import { expect, test } from "vitest";
import { MemoryFiles } from "../store/testkit/memory-files.ts";
import { Files } from "./files.ts";

test("uploads that begin together and end one after the other stay within their owner's limit", async () => {
  const store = { files: new MemoryFiles(Date.now) };
  const files = new Files({ store, limits: { filesPerOwner: 10, fileBytesPerOwner: 100 } });
  const uploads = Array.from({ length: 4 }, () => {
    const begun = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    const content = async function* () {
      yield new Uint8Array(1);
      begun.resolve();
      await rest.promise;
      yield new Uint8Array(39);
    };
    const fields = new Map([["purpose", "user_data"]]);
    const created = files.create("ann", { filename: "a", content: content(), fields });
    return { begun: begun.promise, rest, created };
  });
  await Promise.all(uploads.map(({ begun }) => begun));
  const ends = [];
  for (const { rest, created } of uploads) {
    rest.resolve();
    ends.push(await created.then(({ bytes }) => bytes).catch(({ code }) => code));
  }
  expect(ends).toEqual([40, 40, "file_limit_reached", "file_limit_reached"]);
  expect(await store.files.usage("ann")).toEqual({ files: 2, bytes: 80 });
});
