import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { RawClient } from "../http/testkit/raw-http.ts";
import { start, type TestServer } from "./testkit/start.ts";

const stallMs = 100;
// More than two sockets take, so that what a client does not read stays with the server.
const flood: string[] = Array(16).fill("x".repeat(1_000_000));

test.each([
  { how: "streams", options: { stream: true }, status: "cancelled" },
  { how: "asks for", options: {}, status: "completed" },
  { how: "follows", options: { stream: true, background: true }, status: "completed" },
])(
  "a client that does not read the run that it $how is cut off, and the run is $status",
  async ({ options, status }) => {
    const server = await start({ script: [{ text: flood }], config: { stallMs } });
    const socket = await askWithoutReading(server, { input: "Hi.", ...options });
    await vi.waitFor(
      async () => {
        const numbers = await metrics(server);
        expect(numbers).toContain(
          'rondo_http_requests_total{route="/v1/responses",method="POST",status="200"} 1',
        );
        expect(numbers).toContain(`rondo_runs_total{status="${status}"} 1`);
        expect(numbers).toContain("rondo_open_streams 0");
      },
      { timeout: 50_000 },
    );
    expect((await server.model.request(0)).wasLeft).toBe(status === "cancelled");
    socket.destroy();
  },
  60_000,
);

test("a client that waits for a slow model longer than that is left alone", async () => {
  const server = await start({
    script: [{ text: ["Slow", after(5 * stallMs), "ly."] }],
    config: { stallMs },
  });
  const client = await RawClient.connect(Number(new URL(server.baseURL).port));
  client.request(
    "POST",
    "/v1/responses",
    { "content-type": "application/json" },
    JSON.stringify({ input: "Hi." }),
  );
  await client.until(/Slowly\./);
  expect(client.received).toMatch(/^HTTP\/1\.1 200 /);
  client.socket.destroy();
});

/** Asks for a response over a connection that is never read from. */
async function askWithoutReading({ baseURL }: TestServer, body: object): Promise<Socket> {
  const { port, host } = new URL(baseURL);
  const socket = connect(Number(port), "127.0.0.1").pause();
  socket.on("error", () => {});
  await once(socket, "connect");
  const text = JSON.stringify({ model: "test", ...body });
  const head = ["POST /v1/responses HTTP/1.1", `host: ${host}`, `content-length: ${text.length}`];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  return socket;
}

async function metrics({ baseURL }: TestServer): Promise<string> {
  return (await fetch(new URL("/metrics", baseURL))).text();
}
