import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { guardedFetch } from "./guarded-fetch.ts";
import { type Resolve, refusalIn, urlGuard } from "./url-guard.ts";

async function listening(answer: RequestListener): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    answer(incoming, outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

const here = { address: "127.0.0.1", family: 4 };
const outside = { address: "93.184.215.14", family: 4 };

function fetchWith(allowPrivate: readonly string[], resolve?: Resolve) {
  const guarded = guardedFetch(urlGuard({ allowPrivate, resolve }));
  onTestFinished(() => guarded.close());
  return guarded.fetch;
}

/** Why it was refused; undefined if it was not. */
async function refusal(asked: Promise<unknown>): Promise<string | undefined> {
  return asked.then(
    () => undefined,
    (error: unknown) => refusalIn(error)?.message,
  );
}

describe("a private address is refused, and nobody is asked anything", () => {
  test.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:0:0:1]",
    "[64:ff9b::127.0.0.1]",
    "１２７.0.0.1",
    "127。0。0。1",
    "169.254.169.254",
    "0xA9FEA9FE",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "192.168.0.1",
  ])("written as %s", async (host) => {
    const { port, asked } = await listening((_, outgoing) => outgoing.end("secret"));
    const url = URL.parse(`http://${host}:${port}/`);
    expect(url).not.toBeNull();
    expect(await refusal(fetchWith([])(String(url)))).toMatch(/private address/);
    expect(asked).toEqual([]);
  });

  test.each([["localhost"], ["localhost."], ["intern.example"], ["127.0.0.1.nip.example"]])(
    "behind the name %s",
    async (host) => {
      const { port, asked } = await listening((_, outgoing) => outgoing.end("secret"));
      const fetch = fetchWith([], async () => [here]);
      expect(await refusal(fetch(`http://${host}:${port}/`))).toMatch(/stands for a private address/);
      expect(asked).toEqual([]);
    },
  );

  test("behind the name of this machine, as the system knows it", async () => {
    const { port, asked } = await listening((_, outgoing) => outgoing.end("secret"));
    expect(await refusal(fetchWith([])(`http://localhost:${port}/`))).toMatch(/private address/);
    expect(asked).toEqual([]);
  });

  test("among public ones", async () => {
    const { port } = await listening((_, outgoing) => outgoing.end("secret"));
    const fetch = fetchWith([], async () => [outside, here]);
    expect(await refusal(fetch(`http://mixed.example:${port}/`))).toMatch(/private address/);
  });

  test("that a name gets after it was asked for once: what is checked is what is connected to", async () => {
    const { port, asked } = await listening((_, outgoing) => outgoing.end("secret"));
    const answers = [[here], [here]];
    let looks = 0;
    const fetch = fetchWith([`first.example:${port}`], async () => {
      looks += 1;
      return answers.shift() ?? [];
    });
    // The same name on another port is not allowed, although its address was good a moment ago.
    expect((await fetch(`http://first.example:${port}/`)).ok).toBe(true);
    expect(await refusal(fetch(`http://first.example:${port + 1}/`))).toMatch(/private address/);
    expect(looks).toBe(2);
    expect(asked).toEqual(["GET /"]);
  });
});

describe("a redirect is refused, wherever it leads", () => {
  test.each([301, 302, 303, 307, 308])("with %i", async (status) => {
    const { port, asked } = await listening((_, outgoing) => {
      outgoing.writeHead(status, { location: "http://169.254.169.254/latest/meta-data" });
      outgoing.end();
    });
    const asking = fetchWith(["127.0.0.1"])(`http://127.0.0.1:${port}/`);
    expect(await refusal(asking)).toMatch(/redirect/);
    expect(asked).toEqual(["GET /"]);
  });
});

test.each(["file:///etc/passwd", "ftp://example.org/", "data:text/plain,x", "gopher://example.org/"])(
  "only http and https are spoken: %s",
  async (url) => {
    expect(await refusal(fetchWith(["*"])(url))).toMatch(/expected an http or https URL/);
  },
);

describe("what is allowed", () => {
  test.each([["*"], ["127.0.0.1"], ["port"]])("is reached: %s", async (allowed) => {
    const { port } = await listening((_, outgoing) => outgoing.end("hello"));
    const fetch = fetchWith([allowed === "port" ? `127.0.0.1:${port}` : allowed]);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("hello");
  });

  test("gets the body and the headers, and its answer comes piece by piece", async () => {
    const { promise: more, resolve: goOn } = Promise.withResolvers<void>();
    const { port } = await listening((incoming, outgoing) => {
      outgoing.writeHead(201, { "x-echo": String(incoming.headers["x-a"]) });
      incoming.on("data", (chunk: Buffer) => outgoing.write(chunk));
      incoming.on("end", () => void more.then(() => outgoing.end(" and more")));
    });
    const fetch = fetchWith(["*"]);
    const response = await fetch(`http://127.0.0.1:${port}/x`, {
      method: "POST",
      body: "first",
      headers: { "x-a": "b" },
    });
    expect([response.status, response.headers.get("x-echo")]).toEqual([201, "b"]);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    goOn();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(" and more");
  });

  test("can be aborted, before the answer and in it", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const { port } = await listening((incoming, outgoing) => {
      outgoing.on("close", resolve);
      if (incoming.url === "/begun") outgoing.write("x");
    });
    const fetch = fetchWith(["*"]);
    const early = new AbortController();
    const asking = fetch(`http://127.0.0.1:${port}/silent`, { signal: early.signal });
    early.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    const late = new AbortController();
    const { body } = await fetch(`http://127.0.0.1:${port}/begun`, { signal: late.signal });
    const reader = body?.getReader();
    await reader?.read();
    late.abort();
    await expect(reader?.read()).rejects.toThrow("aborted");
    await gone;
  });

  test("that nobody answers at fails with the reason", async () => {
    await expect(fetchWith(["*"])("http://127.0.0.1:1/")).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    });
  });
});
