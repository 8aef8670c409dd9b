// Files over HTTP, with the `openai` package and with requests that it would not send.

import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Authenticate } from "./auth.ts";
import { type TestServer, testServer } from "./testkit/test-server.ts";

let server: TestServer;
let client: OpenAI;
beforeAll(async () => {
  // The owner is the key.
  const authenticate: Authenticate = async (headers) => {
    const { authorization } = headers as { authorization?: string };
    return { owner: authorization?.slice("Bearer ".length) ?? "nobody" };
  };
  server = await testServer({}, { authenticate });
  client = clientOf("ann");
});
afterAll(() => server[Symbol.asyncDispose]());

function clientOf(owner: string): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: owner, maxRetries: 0 });
}

test("a file is uploaded, listed, read and deleted, and is its owner's alone", async () => {
  const file = await client.files.create({
    file: await toFile(Buffer.from("a,b\n1,2\n"), "../../etc/pass\u001b[31mwd.csv"),
    purpose: "user_data",
    expires_after: { anchor: "created_at", seconds: 3600 },
  });
  expect(file).toMatchObject({
    object: "file",
    bytes: 8,
    filename: "pass_[31mwd.csv",
    purpose: "user_data",
    status: "processed",
    expires_at: file.created_at + 3600,
  });
  expect(await client.files.retrieve(file.id)).toMatchObject(file);
  expect((await Array.fromAsync(client.files.list())).map(({ id }) => id)).toEqual([file.id]);
  expect(await Array.fromAsync(client.files.list({ purpose: "vision" }))).toEqual([]);
  const reply = await client.files.content(file.id);
  expect(await reply.text()).toBe("a,b\n1,2\n");
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment; filename*=UTF-8''pass_%5B31mwd.csv",
    "x-content-type-options": "nosniff",
  });

  const other = clientOf("bob");
  for (const name of ["retrieve", "content", "delete"] as const)
    await expect(other.files[name](file.id)).rejects.toMatchObject({
      status: 404,
      code: "file_not_found",
    });
  expect(await Array.fromAsync(other.files.list())).toEqual([]);
  expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
  await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
});

test("an owner keeps no more than its limits, and what is refused leaves nothing", async () => {
  const limited = clientOf("limited");
  const upload = (bytes: number) =>
    limited.files.create({ file: new File([new Uint8Array(bytes)], "x.bin"), purpose: "user_data" });
  await expect(upload(1_000_001)).rejects.toMatchObject({ status: 413, code: "file_too_large" });
  expect(await Array.fromAsync(limited.files.list())).toEqual([]);
  await Promise.all([upload(1_000_000), upload(1_000_000)]);
  await expect(upload(1_000_000).then(() => upload(1))).rejects.toMatchObject({
    status: 413,
    code: "file_limit_reached",
    message: expect.stringContaining("limits."),
  });
  expect(await Array.fromAsync(limited.files.list())).toHaveLength(3);
});

test.each([
  ["purpose", { file: new File(["1"], "a"), purpose: "no/purpose" }],
  ["expires_after.seconds", { file: new File(["1"], "a"), purpose: "x", "expires_after[seconds]": "1" }],
  ["purpose", { file: new File(["1"], "a") }],
  ["file", { file: "a text", purpose: "user_data" }],
])("a form with a bad %s is a 400 that names it", async (param, fields) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const reply = await server.fetch("/v1/files", {
    method: "POST",
    body,
    headers: { authorization: "Bearer forms" },
  });
  expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }]);
  expect(await Array.fromAsync(clientOf("forms").files.list())).toEqual([]);
});

test("a body that is no form is a 415", async () => {
  expect(await (await server.post("/v1/files", {})).json()).toMatchObject({
    error: { code: "unsupported_media_type" },
  });
});
