import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ReplyHead, ReplyReader } from "./reply-reader.ts";

interface Read {
  readonly heads: ReplyHead[];
  readonly body: string;
  readonly ends: number;
  /** The bytes after the reply. */
  readonly excess: number;
  readonly error: string | undefined;
  readonly isComplete: boolean;
}

/** Reads the pieces one after the other, then the end of the connection. */
function read(pieces: readonly string[]): Read {
  const heads: ReplyHead[] = [];
  let body = "";
  let ends = 0;
  let excess = 0;
  const reader = new ReplyReader({
    onHead: (head) => heads.push(head),
    onBody: (bytes) => {
      expect(bytes.length).toBeGreaterThan(0);
      body += bytes.toString("latin1");
    },
    onEnd: () => {
      ends += 1;
    },
  });
  try {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, "latin1");
      excess += bytes.length - (reader.isOver ? 0 : reader.read(bytes));
    }
    return { heads, body, ends, excess, error: undefined, isComplete: reader.end() };
  } catch (error) {
    return { heads, body, ends, excess, error: (error as Error).message, isComplete: false };
  }
}

const split = (text: string, cuts: readonly number[]) => {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].toSorted(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, index) => text.slice(places[index], end));
};

/** The outcome. Behind an error it depends on the split how many bytes were given at all. */
const outcome = ({ excess, ...read }: Read) => (read.error === undefined ? { ...read, excess } : read);

const replies: readonly (readonly [name: string, text: string])[] = [
  ["with a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:\t b \r\n\r\nhello"],
  [
    "in chunks",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n006;a=b\r\n world\r\n0\r\nx: y\r\n\r\n",
  ],
  ["until the connection ends", "HTTP/1.0 200 OK\r\nserver: old\r\n\r\nhello"],
  [
    "after others that only announce it",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200\r\ncontent-length: 1\r\n\r\n!",
  ],
  ["without a body", "HTTP/1.1 204 No Content\r\n\r\n"],
  ["with a body of no length", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
  ["after empty lines", "\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"],
  ["with more after it", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n"],
  ["cut off in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nhello"],
  ["cut off in its head", "HTTP/1.1 200 OK\r\nserver: x\r"],
];

test("replies are read", () => {
  expect(read([replies[0]?.[1] ?? ""])).toEqual({
    heads: [{ status: 200, fields: ["content-length", "5", "x-a", "b"], keepsConnection: true }],
    body: "hello",
    ends: 1,
    excess: 0,
    error: undefined,
    isComplete: true,
  });
  expect(read([replies[1]?.[1] ?? ""])).toMatchObject({ body: "hello world", ends: 1, isComplete: true });
  expect(read([replies[2]?.[1] ?? ""])).toMatchObject({
    heads: [{ keepsConnection: false }],
    body: "hello",
    isComplete: true,
  });
  expect(read([replies[3]?.[1] ?? ""])).toMatchObject({ heads: [{ status: 200 }], body: "!", ends: 1 });
  for (const [, text] of replies.slice(4, 6))
    expect(read([text])).toMatchObject({ heads: [{ keepsConnection: true }], body: "", ends: 1 });
  expect(read([replies[7]?.[1] ?? ""])).toMatchObject({ body: "ok", excess: 17, isComplete: true });
  expect(read([`\r\n\r\n${replies[0]?.[1]}`])).toMatchObject({ body: "hello", isComplete: true });
  const signed = `5;sig=${"e".repeat(1_000)}\r\nhello\r\n`.repeat(100);
  expect(read([`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${signed}zz`])).toMatchObject({
    body: "hello".repeat(100),
    error: expect.stringContaining("no size"),
  });
  for (const [, text] of replies.slice(8)) expect(read([text])).toMatchObject({ ends: 0, isComplete: false });
});

test("any split gives the same result, also of garbage", () => {
  const texts = replies.map(([, text]) => text);
  const mutated = fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.string({ unit: "binary-ascii", maxLength: 4 }))
    .map(([text, at, noise]) => text.slice(0, at % text.length) + noise + text.slice((at % text.length) + 1));
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...texts), mutated),
      fc.array(fc.nat(), { maxLength: 20 }),
      (text, cuts) => {
        expect(outcome(read(split(text, cuts)))).toEqual(outcome(read([text])));
        expect(outcome(read(text.split("")))).toEqual(outcome(read([text])));
      },
    ),
  );
});

test("bodies come back whole, however they are cut into chunks and pieces", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 }), { maxLength: 20 }),
      fc.array(fc.nat(), { maxLength: 10 }),
      (chunks, cuts) => {
        const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
        const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${body}0\r\n\r\n`;
        expect(read(split(text, cuts))).toMatchObject({ body: chunks.join(""), ends: 1, isComplete: true });
      },
    ),
  );
});

describe("what is not HTTP/1.1 is refused", () => {
  const head = "HTTP/1.1 200 OK\r\n";
  const chunked = `${head}transfer-encoding: chunked\r\n\r\n`;
  test.each([
    ["another protocol", "SSH-2.0-OpenSSH_9\r\n", "does not begin"],
    ["another version", "HTTP/2 200\r\n", "does not begin"],
    ["a change of the protocol", "HTTP/1.1 101 Switching\r\n\r\n", "changes the protocol"],
    ["lines without CR", "HTTP/1.1 200 OK\n\n", "CR and LF"],
    ["a folded header", `${head}a: b\r\n c\r\n`, "not a header"],
    ["a header without a name", `${head}: b\r\n`, "not a header"],
    ["a header without a colon", `${head}abc\r\n`, "not a header"],
    ["white space after a name", `${head}content-length : 1\r\n`, "not a header"],
    ["control characters", `${head}a: b\0c\r\n`, "not a header"],
    ["two lengths", `${head}content-length: 1\r\ncontent-length: 1\r\n\r\n`, "its length"],
    ["a length that is not a number", `${head}content-length: +5\r\n\r\n`, "its length"],
    ["a length and chunks", `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`, "both"],
    ["a chunk without a size", `${chunked}\r\n`, "no size"],
    ["a size that is not a number", `${chunked}xyz\r\n`, "no size"],
    ["a size with something after it", `${chunked}5x\r\n`, "not a number"],
    ["white space after a size", `${chunked}5 \r\n`, "not a number"],
    ["an extension without CR", `${chunked}5;a\nhello\r\n`, "does not end in a line break"],
    ["a huge size", `${chunked}${"f".repeat(13)}\r\n`, "too large"],
    ["a chunk that is longer than its size", `${chunked}1\r\nab\r\n`, "longer than its size"],
    ["a head without end", `${head}${"a: b\r\n".repeat(3_000)}`, "exceeds 16384 bytes"],
    ["a line without end", `${head}a: ${"b".repeat(20_000)}`, "exceeds 16384 bytes"],
    ["announcements without end", "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000), "exceeds 16384 bytes"],
    ["extensions without end", `${chunked}1;${"e".repeat(20_000)}`, "exceeds 16384 bytes"],
    ["trailers without end", `${chunked}0\r\n${"a: b\r\n".repeat(3_000)}`, "exceeds 16384 bytes"],
  ])("%s", (_, text, message) => {
    expect(read([text]).error).toContain(message);
  });
});
