// The list of runs and their traces, over HTTP.

import { startModelServer } from "rondo/testing";
import { expect, test, vi } from "vitest";
import { hashKey } from "./auth-keys.ts";
import { startServer } from "./server.ts";

interface ListReply {
  data: { id: string; title: string; source: string | null; thread_id: string }[];
  last_id: string | null;
  has_more: boolean;
}

const keys = [
  { owner: "ann", hash: hashKey("rondo-ann-key") },
  { owner: "bob", hash: hashKey("rondo-bob-key") },
];

async function serve(answers: number) {
  const model = await startModelServer(Array.from({ length: answers }, (_, n) => `Answer ${n}.`));
  const server = await startServer({
    port: 0,
    store: "memory",
    endpoints: [{ url: model.url }],
    auth: { keys },
    log: { level: "silent" },
  });
  const call = (path: string, owner = "ann", body?: object) =>
    fetch(`${server.url}${path}`, {
      headers: { authorization: `Bearer rondo-${owner}-key`, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify({ model: "test-model", ...body }) }),
    });
  return {
    create: async (body: object) =>
      (await (await call("/v1/responses", "ann", body)).json()) as { id: string },
    get: async (path: string, owner?: string) => {
      const reply = await call(path, owner);
      return { status: reply.status, body: await reply.json() };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await model.close();
    },
  };
}

test("titles are short and on one line, whatever comes in", async () => {
  await using server = await serve(6);
  const texts = [
    `  Hello\n\t\u0000\u0007 \u202eworld\u2028 `,
    "x".repeat(100_000),
    `${" ".repeat(499)}late`,
    "😀".repeat(200),
    [
      { role: "user", content: "Before" },
      { role: "assistant", content: "No" },
      {
        role: "user",
        content: [
          { type: "input_text", text: " " },
          { type: "input_text", text: "Last" },
        ],
      },
      { role: "system", content: "Not this" },
    ],
    [{ role: "assistant", content: "Only this" }],
  ];
  for (const input of texts) await server.create({ input, metadata: { source: "cli\u0000".repeat(50) } });
  const { body } = await server.get("/v1/runs?order=asc");
  const { data } = body as ListReply;
  expect(data.map(({ title }) => title)).toEqual([
    "Hello world",
    "x".repeat(120),
    "l",
    "😀".repeat(120),
    "Last",
    "",
  ]);
  expect(data[0]?.source).toBe("cli ".repeat(16).trim());
});

test("the list has filters and a search, and says where the next page begins", async () => {
  await using server = await serve(4);
  const first = await server.create({ input: "Find ME", metadata: { source: "console" } });
  const second = await server.create({ input: "more", previous_response_id: first.id });
  await server.create({ input: "find you", model: "test-model" });
  const ids = async (query: string) =>
    ((await server.get(`/v1/runs?${query}`)).body as ListReply).data.map(({ id }) => id);
  expect(await ids("search=fInD%20me")).toEqual([first.id]);
  expect(await ids("search=find&roots=true")).toHaveLength(2);
  expect(await ids(`search=${second.id.slice(0, -1)}`)).toEqual([second.id]);
  expect(await ids(`thread=${first.id}&order=asc`)).toEqual([first.id, second.id]);
  expect(await server.get("/v1/runs?thread=")).toMatchObject({
    status: 400,
    body: { error: { param: "thread" } },
  });
  expect(await ids("source=console")).toEqual([first.id]);
  expect(await ids("status=completed&background=false&model=test-model")).toHaveLength(3);
  expect(await ids("created_after_ms=99999999999999")).toEqual([]);
  const page = (await server.get("/v1/runs?limit=1&search=find")).body as ListReply;
  expect(page).toMatchObject({ object: "list", has_more: true, last_id: page.data[0]?.id });
  expect(await ids(`limit=1&search=find&after=${page.last_id}`)).toEqual([first.id]);
  expect((await server.get("/v1/runs", "bob")).body).toMatchObject({ data: [], has_more: false });
});

test("the list can have what was said, in pages that are not too long", async () => {
  const long = "x".repeat(1_500_000);
  await using server = await serve(4);
  const first = await server.create({ input: `first ${long}` });
  let last = first;
  for (const n of [1, 2, 3])
    last = await server.create({ input: `${n} ${long}`, previous_response_id: last.id });
  interface FullRun {
    id: string;
    response?: { id: string; output: { content: { text: string }[] }[] };
    input?: { data: { content: { text: string }[] }[]; has_more: boolean };
  }
  const read = async (query: string) =>
    (await server.get(`/v1/runs?thread=${first.id}&${query}`)).body as ListReply & {
      data: FullRun[];
      first_id: string;
    };
  const page = await read("include=response,input");
  expect(page.data).toHaveLength(2);
  expect(page).toMatchObject({ has_more: true, first_id: last.id, last_id: page.data[1]?.id });
  expect(page.data[0]?.response).toMatchObject({
    id: last.id,
    output: [{ content: [{ text: "Answer 3." }] }],
  });
  expect(page.data[0]?.input?.data[0]?.content[0]?.text.slice(0, 4)).toBe("3 xx");
  expect(page.data[0]?.input?.has_more).toBe(false);
  const rest = await read(`include=response&include=input&after=${page.last_id}`);
  expect(rest).toMatchObject({ has_more: false, last_id: first.id });
  // Backwards, the page ends where it was asked for.
  const before = await read(`include=input&before=${first.id}`);
  expect(before.data.map(({ id }) => id)).toEqual([page.data[1]?.id, rest.data[0]?.id]);
  expect(before).toMatchObject({ has_more: true, first_id: page.data[1]?.id, last_id: rest.data[0]?.id });
  expect(before.data[0]?.response).toBeUndefined();
  expect((await read("")).data[0]?.input).toBeUndefined();
});

test("nonsense is refused, and what is another's is not found", async () => {
  await using server = await serve(1);
  const { id } = await server.create({ input: "Hi" });
  for (const query of [
    "limit=0",
    "limit=1000",
    "order=up",
    "status=fine",
    "background=maybe",
    `search=${"x".repeat(121)}`,
    `source=${"x".repeat(65)}`,
    "created_after_ms=-1",
    "created_after_ms=1.5",
    "after=resp_unknown",
    "include=everything",
  ])
    expect([query, (await server.get(`/v1/runs?${query}`)).status]).toEqual([query, 400]);
  for (const query of ["after=-2", "after=x", "after=1e3", "include=secrets", "include=requests,all"])
    expect([query, (await server.get(`/v1/responses/${id}/trace?${query}`)).status]).toEqual([query, 400]);
  expect(await server.get(`/v1/responses/${id}/trace?include=requests&include=chunks&after=`)).toMatchObject({
    status: 200,
    body: {
      response_id: id,
      is_over: true,
      events: [{ type: "run.claimed" }, ...Array.from({ length: 8 }, () => ({}))],
    },
  });
  expect((await server.get(`/v1/responses/${id}/trace`, "bob")).status).toBe(404);
  expect((await server.get("/v1/responses/resp_x/trace")).status).toBe(404);
  expect((await server.get(`/v1/runs?after=${id}`, "bob")).status).toBe(400);
});

test("a run whose client left says so in its trace", async () => {
  await using model = await startModelServer([{ text: ["Never", new Promise(() => {})] }]);
  await using server = await startServer({
    port: 0,
    store: "memory",
    endpoints: [{ url: model.url }],
    log: { level: "silent" },
  });
  const reply = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test-model", input: "Hi.", stream: true }),
  });
  for await (const bytes of reply.body ?? []) if (Buffer.from(bytes).includes("Never")) break; // and leave
  const get = async (path: string) => (await fetch(`${server.url}${path}`)).json();
  const { id } = await vi.waitFor(async () => {
    const { data } = (await get("/v1/runs?status=cancelled")) as ListReply;
    expect(data).toHaveLength(1);
    return data[0] ?? { id: "" };
  });
  expect(await get(`/v1/responses/${id}/trace`)).toMatchObject({
    events: expect.arrayContaining([
      expect.objectContaining({
        type: "model.failed",
        error: { type: "ClientLeft", message: "The client is gone." },
      }),
    ]),
  });
});
