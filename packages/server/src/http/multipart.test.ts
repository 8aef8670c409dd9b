import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiError } from "../protocol/api-error.ts";
import { type FormFile, readForm } from "./multipart.ts";

interface ReadFile {
  filename: string;
  content: string;
  fields: Record<string, string>;
}

async function readAll(form: FormFile): Promise<ReadFile> {
  try {
    const content = Buffer.concat(await Array.fromAsync(form.content)).toString("latin1");
    return { filename: form.filename, content, fields: Object.fromEntries(form.fields) };
  } finally {
    await form.close();
  }
}

/** Reads a body that comes in these pieces. */
async function readPieces(pieces: readonly Buffer[], { boundary = "XX", fileBytes = 100_000 } = {}) {
  const stream = new PassThrough();
  const incoming = Object.assign(stream, {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  }) as unknown as IncomingMessage;
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return readAll(await readForm(incoming, { fileBytes, setting: "limits.fileBytes" }));
}

const form = (...parts: string[]) => `${parts.map((part) => `--XX\r\n${part}\r\n`).join("")}--XX--\r\n`;
const field = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
const file = (content: string, filename = "a.csv") =>
  `Content-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: text/csv\r\n\r\n${content}`;
const read = (text: string, options?: Parameters<typeof readPieces>[1]) =>
  readPieces([Buffer.from(text, "latin1")], options);

test("a form is read the same however it is cut, whatever its file holds", async () => {
  const hostile = fc.constantFrom("\r\n", "--", "--XX", "\r\n--X", "\r\n--", "\r", "\n", "x", "\u0000\u00ff");
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostile, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 }),
      async (tokens, sizes) => {
        const content = tokens.join("").replaceAll("\r\n--XX", "\r\n--YY");
        const body = Buffer.from(
          form(field("purpose", "user_data"), file(content), field("a", "")),
          "latin1",
        );
        const pieces: Buffer[] = [];
        for (let at = 0, i = 0; at < body.length; i += 1) {
          const size = sizes[i % sizes.length] ?? 1;
          pieces.push(body.subarray(at, at + size));
          at += size;
        }
        expect(await readPieces(pieces)).toEqual({
          filename: "a.csv",
          content,
          fields: { purpose: "user_data", a: "" },
        });
      },
    ),
    { numRuns: 60 },
  );
});

test("what is not such a form is an error that says why, never a file", async () => {
  const garbage = fc.string({
    unit: fc.constantFrom("--XX", "--XX--", "\r\n", "\r\n\r\n", ":", "a"),
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(garbage, async (text) => {
      await expect(read(text)).rejects.toBeInstanceOf(ApiError);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ["without a file", form(field("purpose", "x")), "expected a file in the form, got none"],
  ["with two files", form(file("1"), file("2")), "expected one file, got several"],
  ["that ends early", form(file("1")).slice(0, -10), "it ends too early"],
  ["with a part without a name", form("X-Other: 1\r\n\r\n1"), "a part has no name"],
  ["with endless headers", `--XX\r\n${"a: b\r\n".repeat(5000)}`, "the headers of a part are longer than"],
  ["with a huge field", form(field("purpose", "x".repeat(70_000))), "a field is longer than"],
  ["with many parts", form(...Array.from({ length: 40 }, (_, i) => field(`${i}`, ""))), "more than 32 parts"],
])("a form %s is rejected", async (_name, body, message) => {
  await expect(read(body)).rejects.toThrow(message);
});

test("a file that is too large is rejected, as is a body of another type", async () => {
  await expect(read(form(file("x".repeat(11))), { fileBytes: 10 })).rejects.toMatchObject({
    status: 413,
    code: "file_too_large",
  });
  expect((await read(form(file("x".repeat(10))), { fileBytes: 10 })).content).toHaveLength(10);
  const other = { headers: { "content-type": "text/plain" } } as IncomingMessage;
  await expect(readForm(other, { fileBytes: 1, setting: "" })).rejects.toMatchObject({ status: 415 });
});

test("names are read as clients write them", async () => {
  const named = async (disposition: string) =>
    (await readPieces([Buffer.from(form(`Content-Disposition: form-data; ${disposition}\r\n\r\n1`))]))
      .filename;
  expect(await named('name="file"; filename="a \\"b\\".csv"')).toBe('a "b".csv');
  expect(await named('name="file"; filename="%22%0D%0A.csv"')).toBe('"\r\n.csv');
  expect(await named(`name="file"; filename="?"; filename*=UTF-8''%C3%A4.csv`)).toBe("ä.csv");
  expect(await named(`name="file"; filename="b"; filename*=UTF-8''%ZZ`)).toBe("b");
  expect(await named("name=file; filename=plain.csv")).toBe("plain.csv");
  expect(await named('name="file"; filename="日本.csv"')).toBe("日本.csv");
});

describe("over HTTP", () => {
  const server = createServer((incoming, outgoing) => {
    void readForm(incoming, { fileBytes: 1_000_000, setting: "limits.fileBytes" })
      .then(readAll)
      .catch((error: Error) => ({ error: error.message }))
      .then((reply) => outgoing.end(JSON.stringify(reply)));
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => void server.close());
  const send = async (body: FormData) => {
    const { port } = server.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", body })).json();
  };

  test("a form of fetch arrives, and one that is rejected early gets its reply", async () => {
    const body = new FormData();
    body.set("file", new File(["a,b\n"], 'odd "name".csv'));
    body.set("purpose", "user_data");
    expect(await send(body)).toEqual({
      filename: 'odd "name".csv',
      content: "a,b\n",
      fields: { purpose: "user_data" },
    });
    body.set("file", new File([new Uint8Array(3_000_000)], "big"));
    expect(await send(body)).toEqual({ error: expect.stringContaining("larger than 1000000 bytes") });
  });
});
