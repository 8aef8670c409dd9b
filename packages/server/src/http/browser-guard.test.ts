import { expect, test } from "vitest";
import { RawClient } from "./testkit/raw-http.ts";
import { type TestServer, testServer } from "./testkit/test-server.ts";

/** The status and text of an answer to a request with exactly these headers. */
async function ask(
  server: TestServer,
  headers: Record<string, string>,
  method = "GET",
  path = "/v1/responses/r",
) {
  const client = await RawClient.connect(server.port);
  client.request(method, path, { connection: "close", ...headers });
  await client.closed;
  const [head = "", body = ""] = client.received.split("\r\n\r\n");
  const [status = "", ...lines] = head.split("\r\n");
  const received = Object.fromEntries(lines.map((line) => line.toLowerCase().split(": ", 2)));
  return { status: Number(status.split(" ")[1]), headers: received as Record<string, string>, body };
}

test.each(["localhost", "localhost:4500", "LOCALHOST", "127.0.0.1:80", "127.1.2.3", "[::1]:4500"])(
  "without a key, the host %s is served",
  async (host) => {
    await using server = await testServer();
    expect((await ask(server, { host })).status).toBe(200);
  },
);

test.each([
  "evil.example",
  "evil.example:4500",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "10.0.0.1",
])(
  "without a key, the host %s is refused on every path, so that no web page can come by another name",
  async (host) => {
    await using server = await testServer();
    for (const path of ["/v1/responses/r", "/metrics", "/nowhere"]) {
      const { status, body } = await ask(server, { host }, "GET", path);
      expect(status).toBe(403);
      expect(body).toContain(host);
      expect(body).toContain("auth");
    }
    expect(server.responses.calls).toEqual([]);
  },
);

test("with keys, any host is served", async () => {
  await using server = await testServer({}, { isOpenOnLoopback: false });
  expect((await ask(server, { host: "ai.example.org" })).status).toBe(200);
});

test.each(["https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1:1"])(
  "without a key, a web page of %s is refused unless cors allows it",
  async (origin) => {
    await using server = await testServer();
    const headers = { host: "localhost:4500", origin };
    const { status, body } = await ask(server, headers, "POST", "/v1/responses");
    expect(status).toBe(403);
    expect(body).toContain("cors.origins");
    expect(server.responses.calls).toEqual([]);
    await using open = await testServer({}, { origins: [origin] });
    expect((await ask(open, headers)).status).toBe(200);
  },
);

test("a page of the server's own origin may call it", async () => {
  await using server = await testServer();
  expect((await ask(server, { host: "localhost:4500", origin: "http://localhost:4500" })).status).toBe(200);
});

test("no CORS headers without origins in the config", async () => {
  await using server = await testServer({}, { isOpenOnLoopback: false });
  const { headers } = await ask(server, { origin: "https://app.example" });
  expect(Object.keys(headers).filter((name) => /^(?:access-control|vary)/.test(name))).toEqual([]);
});

test("listed origins are named, others are not, and replies vary by origin", async () => {
  await using server = await testServer({}, { origins: ["https://app.example"], isOpenOnLoopback: false });
  const listed = await ask(server, { origin: "https://app.example" });
  expect(listed.headers).toMatchObject({
    "access-control-allow-origin": "https://app.example",
    "access-control-expose-headers": "x-request-id, retry-after",
    vary: "origin",
  });
  const other = await ask(server, { origin: "https://other.example" });
  expect(other.headers["access-control-allow-origin"]).toBeUndefined();
  expect(other.headers["vary"]).toBe("origin");
});

test("with *, all origins may call, and streams and errors say so too", async () => {
  await using server = await testServer({}, { origins: ["*"] });
  const headers = { origin: "https://any.example" };
  expect((await ask(server, headers)).headers["access-control-allow-origin"]).toBe("*");
  expect((await ask(server, headers, "GET", "/nowhere")).headers["access-control-allow-origin"]).toBe("*");
  const stream = await ask(server, headers, "GET", "/v1/responses/r?stream=true");
  expect(stream.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "access-control-allow-origin": "*",
  });
});

test("a preflight of an allowed page needs no key", async () => {
  const authenticate = () => Promise.reject(new Error("must not be asked"));
  await using server = await testServer({}, { origins: ["https://app.example"], authenticate });
  const preflight = {
    origin: "https://app.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,x-stainless-os",
    "access-control-request-private-network": "true",
  };
  const { status, headers } = await ask(server, preflight, "OPTIONS", "/v1/responses");
  expect(status).toBe(204);
  expect(headers).toMatchObject({
    "access-control-allow-origin": "https://app.example",
    "access-control-allow-methods": "get, post, delete",
    "access-control-allow-headers": "authorization,content-type,x-stainless-os",
    "access-control-allow-private-network": "true",
  });
  const foreign = await ask(
    server,
    { ...preflight, origin: "https://evil.example" },
    "OPTIONS",
    "/v1/responses",
  );
  expect(foreign.headers["access-control-allow-methods"]).toBeUndefined();
});
