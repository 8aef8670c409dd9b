import { expect, test, vi } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { requestFor } from "./testkit/clients.ts";
import { Follower, getJson, post } from "./testkit/follower.ts";
import { Gate } from "./testkit/gate.ts";
import { ServerProcess } from "./testkit/server-process.ts";
import { callsOf, endOf, type Story } from "./testkit/story.ts";
import { startStoryModel } from "./testkit/story-model.ts";

const short: Story = { name: "short", seed: 7, steps: 1, length: 60, paceMs: 2, toolMs: 20 };
const long: Story = { ...short, name: "long" };
const count = 5;

test("SIGTERM lets streams end, and background runs go on after the next start", {
  timeout: 60_000,
}, async () => {
  using folder = tempFolder();
  await using model = await startStoryModel();
  const env = { RONDO_SHUTDOWN_MS: "1000" };
  await using server = new ServerProcess({ folder: folder.path, modelUrl: model.url, env });
  const first = await server.start();
  if (!first) throw new Error("The server did not start.");
  const gates = { short: new Gate(), long: new Gate() };
  model.gateOf = ({ name }) => (name === "long" ? gates.long : gates.short);

  const answer = await post(first.url, { ...requestFor(long), background: true });
  const { id } = (await answer.json()) as ResponseObject;
  const background = new Follower(server);
  const following = background.follow(id);
  const foreground = Array.from({ length: count }, () => new Follower(server));
  const streams = foreground.map((follower) =>
    follower.read(first, () => post(first.url, { ...requestFor(short), stream: true })),
  );
  await Promise.all([gates.short.holds(count), gates.long.holds(1)]);

  const exited = server.terminate();
  await vi.waitFor(() => expect(server.complaints).toContain("Stopping"));
  gates.short.open();
  await Promise.all(streams);
  expect(await exited).toBe(0);
  for (const { frames } of foreground) {
    expect(streamFlaws(frames)).toEqual([]);
    expect(frames.at(-2)?.event).toBe("response.completed");
  }

  gates.long.open();
  const second = await server.start();
  await following;
  expect(streamFlaws(background.frames)).toEqual([]);
  expect(background.connectionCount).toBeGreaterThan(1);
  const { status, output } = await getJson<ResponseObject>(second?.url ?? "", `/responses/${id}`);
  expect(status).toBe("completed");
  expect(output.at(-1)).toMatchObject({ status: "completed", content: [{ text: endOf(long) }] });
  // Its call was done before the stop, and was not made again.
  expect(server.effects().filter(({ story, type }) => story === "long" && type === "started")).toHaveLength(
    callsOf(long).length,
  );
});
