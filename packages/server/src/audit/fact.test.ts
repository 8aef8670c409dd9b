import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprint, toLine } from "./fact.ts";

const source = { node: "gpu-1", boot: "b00t" };
const time = new Date(0);
const parse = (line: string) => JSON.parse(line) as Record<string, unknown>;

test("a line has the time, the process, its number and the fields in snake_case, and nothing undefined", () => {
  const tool = { host: "local", label: "local", name: "add" };
  const line = toLine(source, 7, time, { action: "call.ended", started: 3, responseId: "resp_1", tool });
  expect(parse(line)).toEqual({
    v: 1,
    time: "1970-01-01T00:00:00.000Z",
    node: "gpu-1",
    boot: "b00t",
    n: 7,
    action: "call.ended",
    started: 3,
    response_id: "resp_1",
    tool,
  });
  expect(toLine(source, 1, time, { action: "server.stopped", owner: undefined })).not.toContain("owner");
});

test("whatever names contain is one line of JSON without control characters, and with no field more", () => {
  const nasty = fc.oneof(
    fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
    fc.constantFrom(
      "\n",
      '\n{"v":1}\n',
      "\u2028",
      "\u202e",
      "\u009b2J",
      "\u001b[2J",
      '"}',
      "\ud800",
      "\u0000",
    ),
  );
  fc.assert(
    fc.property(fc.array(nasty, { maxLength: 5 }), nasty, (parts, label) => {
      const name = parts.join("");
      const tool = { host: "url:x", label, name };
      const line = toLine(source, 1, time, { action: "call.refused", owner: name, callId: label, tool });
      expect(line).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069\ufeff]/u);
      const read = parse(line);
      expect(Object.keys(read)).toEqual([
        "v",
        "time",
        "node",
        "boot",
        "n",
        "action",
        "owner",
        "call_id",
        "tool",
      ]);
      expect(read["owner"]).toBe(name);
    }),
    { numRuns: 100 },
  );
});

test("long texts are cut, and two that begin alike stay different", () => {
  const ofOwner = (owner: string) =>
    parse(toLine(source, 1, time, { action: "request.started", owner }))["owner"];
  const long = "x".repeat(100_000);
  expect(ofOwner(`${long}a`)).toHaveLength(717);
  expect(ofOwner(`${long}a`)).not.toBe(ofOwner(`${long}b`));
  const everything = { owner: long, key: long, address: long, forwardedFor: long, target: long, model: long };
  const tool = { host: long, label: long, name: long };
  expect(toLine(source, 1, time, { action: "call.started", ...everything, tool }).length).toBeLessThan(8000);
});

test("content is known by its size in bytes and its SHA-256", () => {
  expect(fingerprint("é")).toEqual({
    bytes: 2,
    sha256: "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c",
  });
});
