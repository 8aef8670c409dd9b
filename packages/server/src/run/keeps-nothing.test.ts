import { scriptedModel } from "rondo/testing";
import { expect, test } from "vitest";
import { openStore } from "../store/open-store.ts";
import { Conversations } from "./conversations.ts";
import { never, plain, startService, stream } from "./testkit/service.ts";

async function start(...answers: string[]) {
  const store = await openStore("none");
  return { store, service: await startService({ model: scriptedModel(answers), store }) };
}

test("a server that keeps nothing answers, and finds nothing afterwards", async () => {
  const { service } = await start("One.", "Two.", "Three.");
  for (const body of [{}, { store: false }, { store: null }]) {
    const response = await plain(service, { input: "Go", ...body });
    expect(response).toMatchObject({ status: "completed", store: false });
    await expect(service.get("ada", response.id)).rejects.toMatchObject({ status: 404 });
  }
  expect((await service.list("ada", { limit: 10, order: "asc" })).data).toEqual([]);
});

test("a server that keeps nothing streams", async () => {
  const { service } = await start("One.");
  const { response } = await stream(service, { input: "Go" });
  expect(response).toMatchObject({ status: "completed", store: false });
});

test.each<[string, object]>([
  ["store", { store: true }],
  ["background", { background: true }],
  ["previous_response_id", { previous_response_id: "resp_1" }],
  ["conversation", { conversation: "conv_1" }],
])("a server that keeps nothing refuses %s, and says why", async (param, body) => {
  const { service } = await start();
  await expect(plain(service, { input: "Go", ...body })).rejects.toMatchObject({
    status: 400,
    code: "store_disabled",
    param,
    message: expect.stringContaining("This server keeps nothing (store: none in its config)"),
  });
});

test("a server that keeps nothing refuses keys and conversations", async () => {
  const { service, store } = await start();
  const repeatKey = { key: "k", fingerprint: "f" };
  const refusal = { status: 400, code: "store_disabled" };
  await expect(service.prepare("ada", { input: "Go" }, { repeatKey })).rejects.toMatchObject(refusal);
  const conversations = new Conversations({ store, limits: { maxItems: 10 } });
  await expect(conversations.create("ada", {})).rejects.toMatchObject(refusal);
});

test("a server that keeps nothing lets a connection follow what it remembers itself", async () => {
  const { service } = await start("Two.");
  const recall = (id: string) =>
    id === "resp_1" ? [{ item: { type: "message", role: "user" as const, content: "One." } }] : undefined;
  const body = { model: "test", input: "Two?", previous_response_id: "resp_1" };
  const prepared = await service.prepare("ada", body, { recall });
  expect(await service.runPlain(prepared, never)).toMatchObject({ status: "completed" });
});

test("a server that keeps nothing does not find what a connection has forgotten, so that its client sends it again", async () => {
  const { service } = await start();
  const body = { model: "test", input: "Two?", previous_response_id: "resp_1" };
  const prepared = service.prepare("ada", body, { recall: () => undefined });
  await expect(prepared).rejects.toMatchObject({ status: 404, code: "previous_response_not_found" });
});
