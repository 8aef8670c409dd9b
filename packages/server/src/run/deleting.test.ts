// Responses that a client deletes: their runs stop, and nothing continues from them.

import { describe, expect, test, vi } from "vitest";
import type { ApiError } from "../protocol/api-error.ts";
import { enqueue, follow, forever, start } from "./testkit/background.ts";
import { never, plain } from "./testkit/service.ts";

describe("deleting", () => {
  test("a run that works stops it, and ends the streams that follow it", async () => {
    const { service, model } = await start({ text: ["a", forever] });
    const { id } = await enqueue(service);
    const { events, ended: followed } = follow(service, id);
    await vi.waitUntil(() => events.length > 3, { interval: 1 });
    expect(await service.remove("ada", id)).toEqual({ id, object: "response", deleted: true });
    await followed;
    await model.requests[0]?.ended;
    expect(model.requests).toHaveLength(1);
    await expect(service.get("ada", id)).rejects.toMatchObject({ status: 404 });
    await expect(service.remove("ada", id)).rejects.toMatchObject({ status: 404 });
  });

  test("a foreground run tells its client", async () => {
    const { service, model } = await start({ text: ["a", forever] });
    const prepared = await service.prepare("ada", { model: "test", input: "Go" });
    const running = service.runPlain(prepared, never).catch((error: ApiError) => error);
    await model.request(0);
    await service.remove("ada", prepared.id);
    expect(await running).toMatchObject({ status: 404, code: "response_deleted" });
  });

  test("one of a chain breaks it for those who go on from it", async () => {
    const { service } = await start("Done.");
    const first = await plain(service, { input: "One" });
    const second = await plain(service, { input: "Two", previous_response_id: first.id });
    await service.remove("ada", first.id);
    await expect(plain(service, { input: "Three", previous_response_id: second.id })).rejects.toMatchObject({
      status: 404,
      code: "previous_response_not_found",
      message: expect.stringContaining(first.id),
    });
  });
});
