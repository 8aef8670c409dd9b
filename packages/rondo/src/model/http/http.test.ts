import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type HttpResponse, type HttpSend, readText as readTextUpTo } from "./http.ts";
import { send as sendByFetch } from "./http-fetch.ts";
import { send as sendByNode } from "./http-node.ts";
import { sendBy } from "./send-by.ts";

async function serve(listener: RequestListener): Promise<{ url: URL; connectionCount: () => number }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let count = 0;
  server.on("connection", () => (count += 1));
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}/`), connectionCount: () => count };
}

/** A server that sends `start` and then nothing, and tells when its socket was closed. */
async function serveEndless(start: string) {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { promise: requested, resolve: onRequest } = Promise.withResolvers<void>();
  const { url } = await serve((_, response) => {
    response.once("close", resolve);
    if (start !== "") response.write(start);
    onRequest();
  });
  return { url, closed, requested };
}

const never = new AbortController().signal;

const readText = (response: HttpResponse) => readTextUpTo(response, 1_000_000);

/** A server that sends zeros without end, packed if that is wanted, and tells when its socket was closed. */
async function serveZeros(encoding: "identity" | "gzip"): Promise<{ url: URL; closed: Promise<void> }> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { url } = await serve((_, response) => {
    response.once("close", resolve).writeHead(200, { "content-encoding": encoding });
    const zeros = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(65_536);
      })(),
    );
    const packed = encoding === "gzip" ? zeros.pipe(createGzip()) : zeros;
    packed.pipe(response);
    response.once("close", () => zeros.destroy());
  });
  return { url, closed };
}

function get(send: HttpSend, url: URL, signal = never): Promise<HttpResponse> {
  return send({ method: "GET", url, headers: {}, signal });
}

describe.each([
  ["sockets", sendByNode],
  ["fetch", sendByFetch],
] as const)("%s", (_, send) => {
  test("sends method, headers and body, and reads status, headers and body", async () => {
    const { url } = await serve((request, response) => {
      response.writeHead(418, { "x-method": request.method, "x-header": request.headers["x-a"] });
      response.write(`${request.headers["content-length"]} bytes: `);
      request.pipe(response);
    });
    const response = await send({ method: "POST", url, headers: { "x-a": "b" }, body: ["é"], signal: never });
    expect(response.status).toBe(418);
    expect(response.header("x-method")).toBe("POST");
    expect(response.header("x-header")).toBe("b");
    expect(response.header("x-none")).toBeUndefined();
    expect(await readText(response)).toBe("2 bytes: é");
  });

  test("sends the parts of a body as one text, short and long", async () => {
    const { url } = await serve((request, response) => {
      response.write(`${request.headers["content-length"]}:`);
      request.pipe(response);
    });
    const part = fc
      .tuple(fc.string({ unit: "grapheme", maxLength: 20 }), fc.constantFrom(1, 1, 500, 20_000))
      .map(([text, times]) => text.repeat(times));
    const echoes = fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const text = parts.join("");
      const headers = { "x-name": parts.length % 2 ? "a" : "ü" };
      const response = await send({ method: "POST", url, headers, body: parts, signal: never });
      expect(await readTextUpTo(response, 20_000_000)).toBe(`${Buffer.byteLength(text)}:${text}`);
    });
    await fc.assert(echoes, { numRuns: 50 });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("unpacks %s", async (encoding, compress) => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(compress("packed"));
    });
    expect(await readText(await get(send, url))).toBe("packed");
  });

  test.each(["identity", "gzip"] as const)(
    "reads no more of an endless body than it is told to (%s)",
    async (encoding) => {
      const { url, closed } = await serveZeros(encoding);
      expect(await readTextUpTo(await get(send, url), 100_000)).toHaveLength(100_000);
      await closed;
    },
  );

  test.each(["identity", "gzip"] as const)(
    "closes the socket when the taker throws (%s)",
    async (encoding) => {
      const { url, closed } = await serveZeros(encoding);
      const response = await get(send, url);
      let size = 0;
      const reading = response.read((bytes) => {
        size += bytes.length;
        if (size > 100_000) throw new Error("too much");
        return false;
      });
      await expect(reading).rejects.toThrow("too much");
      await closed;
      expect(size).toBeLessThan(1_000_000);
    },
  );

  test("does not follow a redirect", async () => {
    const { url } = await serve((_, response) => response.writeHead(307, { location: "/else" }).end());
    const response = await get(send, url);
    expect(response.status).toBe(307);
    expect(response.header("location")).toBe("/else");
    await readText(response);
  });

  test("rejects when nobody listens", async () => {
    const { url } = await serve(() => {});
    url.port = "1";
    await expect(get(send, url)).rejects.toBeInstanceOf(Error);
  });

  test("rejects when the server hangs up instead of answering", async () => {
    const { url } = await serve((request) => request.socket.destroy());
    await expect(get(send, url)).rejects.toBeInstanceOf(Error);
  });

  test("rejects when the connection breaks mid-body, after delivering what had arrived", async () => {
    const { url } = await serve((_, response) => {
      response.write("half", () => response.destroy());
    });
    const response = await get(send, url);
    let text = "";
    await expect(
      response.read((bytes) => {
        text += new TextDecoder().decode(bytes);
        return false;
      }),
    ).rejects.toBeInstanceOf(Error);
    expect(text).toBe("half");
  });

  test("aborted before it is sent, does not connect", async () => {
    const { url, connectionCount } = await serve((_, response) => response.end());
    await expect(get(send, url, AbortSignal.abort("no"))).rejects.toBe("no");
    expect(connectionCount()).toBe(0);
  });

  test("aborted before the answer, closes the socket and rejects with the reason", async () => {
    const { url, closed, requested } = await serveEndless("");
    const controller = new AbortController();
    const response = get(send, url, controller.signal);
    void requested.then(() => controller.abort("enough"));
    await expect(response).rejects.toBe("enough");
    await closed;
  });

  test("aborted while the body is read, closes the socket and rejects with the reason", async () => {
    const { url, closed } = await serveEndless("start");
    const controller = new AbortController();
    const response = await get(send, url, controller.signal);
    const reading = response.read(() => {
      controller.abort("enough");
      return false;
    });
    await expect(reading).rejects.toBe("enough");
    await closed;
  });

  test("aborted between head and body, closes the socket and rejects with the reason", async () => {
    const { url, closed } = await serveEndless("start");
    const controller = new AbortController();
    const response = await get(send, url, controller.signal);
    controller.abort("enough");
    await expect(response.read(() => false)).rejects.toBe("enough");
    await closed;
  });

  test("aborted while it is paused, closes the socket and rejects with the reason", async () => {
    const { url, closed } = await serveEndless("start");
    const controller = new AbortController();
    const response = await get(send, url, controller.signal);
    const reading = response.read(() => {
      response.pause();
      setImmediate(() => controller.abort("enough"));
      return false;
    });
    await expect(reading).rejects.toBe("enough");
    await closed;
  });

  test("closes the socket when the taker of the bytes throws", async () => {
    const { url, closed } = await serveEndless("start");
    const response = await get(send, url);
    const reading = response.read(() => {
      throw new Error("not this");
    });
    await expect(reading).rejects.toThrow("not this");
    await closed;
  });

  test("does not wait for the rest of a body that is not needed, and closes it in the end", async () => {
    const { url, closed } = await serveEndless("start");
    const response = await get(send, url);
    await expect(response.read(() => true)).resolves.toBeUndefined();
    await closed;
  });

  test("holds the server back while it is paused", async () => {
    const piece = "x".repeat(1 << 20);
    const { promise: stuck, resolve: onStuck } = Promise.withResolvers<void>();
    const { url } = await serve((_, response: ServerResponse) => {
      let left = 64;
      const fill = () => {
        while (left > 0) {
          left -= 1;
          if (!response.write(piece)) {
            onStuck();
            response.once("drain", fill);
            return;
          }
        }
        response.end();
      };
      fill();
    });
    const response = await get(send, url);
    let size = 0;
    let isPaused = false;
    let sizeWhilePaused = 0;
    await response.read((bytes) => {
      size += bytes.length;
      if (isPaused) sizeWhilePaused += bytes.length;
      if (size === bytes.length) {
        response.pause();
        isPaused = true;
        void stuck.then(() =>
          setTimeout(() => {
            isPaused = false;
            response.resume();
          }, 20),
        );
      }
      return false;
    });
    expect(sizeWhilePaused).toBe(0);
    expect(size).toBe(64 << 20);
  });
});

test("sockets: keeps the connection for the next request", async () => {
  const { url, connectionCount } = await serve((_, response) => response.end("ok"));
  for (let count = 0; count < 5; count += 1) await readText(await get(sendByNode, url));
  expect(connectionCount()).toBe(1);
});

test.each([
  ["only the end of a body", "identity", "all that matters", "the rest"],
  ["much of a compressed body", "gzip", gzipSync("all that matters"), gzipSync(randomBytes(300_000))],
])("sockets: keeps the connection when %s was not needed", async (_, encoding, start, rest) => {
  const { promise: isRead, resolve: onRead } = Promise.withResolvers<void>();
  const { promise: isSent, resolve: onSent } = Promise.withResolvers<void>();
  const { url, connectionCount } = await serve((_, response) => {
    response.once("finish", onSent).writeHead(200, { "content-encoding": encoding }).write(start);
    void isRead.then(() => response.end(rest));
  });
  const response = await get(sendByNode, url);
  await response.read(() => true);
  onRead();
  await isSent;
  // What the system still has of the rest is drained in the background; only then is the connection free.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await readText(await get(sendByNode, url));
  expect(connectionCount()).toBe(1);
});

test.each([
  ["plain", "identity"],
  ["compressed", "gzip"],
])("sockets: a %s body that arrived while paused is delivered before the error", async (_, encoding) => {
  const { promise: isPaused, resolve: onPaused } = Promise.withResolvers<void>();
  const { url } = await serve((_, response) => {
    const body = encoding === "gzip" ? createGzip() : new PassThrough();
    response.writeHead(200, { "content-encoding": encoding });
    body.on("data", (bytes) => response.write(bytes));
    const write = (text: string) =>
      new Promise<void>((done) => {
        body.write(text);
        if (body instanceof PassThrough) done();
        else body.flush(done);
      });
    void write("one, ")
      .then(() => isPaused)
      .then(() => write("two"))
      .then(() => setTimeout(() => response.destroy(), 50));
  });
  const response = await get(sendByNode, url);
  let text = "";
  const reading = response.read((bytes) => {
    text += new TextDecoder().decode(bytes);
    response.pause();
    onPaused();
    return false;
  });
  await expect(reading).rejects.toBeInstanceOf(Error);
  expect(text).toBe("one, two");
});

test("sockets: replaces a kept connection that the server has closed meanwhile", async () => {
  let count = 0;
  const { url, connectionCount } = await serve((request, response) => {
    count += 1;
    if (count === 2) request.socket.destroy();
    else response.end("ok");
  });
  await readText(await get(sendByNode, url));
  expect(await readText(await get(sendByNode, url))).toBe("ok");
  expect(connectionCount()).toBe(2);
});

test("sockets: decompresses zstd, and rejects an unknown encoding", async () => {
  const { url } = await serve(({ url }, response) => {
    const encoding = `${url}`.slice(1);
    response.writeHead(200, { "content-encoding": encoding }).end(zstdCompressSync("packed"));
  });
  expect(await readText(await get(sendByNode, new URL("zstd", url)))).toBe("packed");
  await expect(readText(await get(sendByNode, new URL("mystery", url)))).rejects.toThrow(
    "unknown compression",
  );
});

test("sockets: rejects a truncated compressed body", async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    response.write(gzipSync("packed".repeat(1_000)).subarray(0, 20), () => response.destroy());
  });
  await expect(readText(await get(sendByNode, url))).rejects.toBeInstanceOf(Error);
});

test("sockets: speaks TLS for https", async () => {
  const { url } = await serve((_, response) => response.end());
  url.protocol = "https:";
  await expect(get(sendByNode, url)).rejects.toMatchObject({ code: expect.stringMatching(/SSL|EPROTO/) });
});

describe("a fetch of the user's", () => {
  const url = new URL("http://127.0.0.1:1/");

  test("that ignores its signal cannot hold the caller", async () => {
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<Response>();
    const { promise: cancelled, resolve: onCancel } = Promise.withResolvers<void>();
    const response = get(
      sendBy(() => promise),
      url,
      controller.signal,
    );
    controller.abort("enough");
    await expect(response).rejects.toBe("enough");
    resolve(new Response(new ReadableStream({ cancel: () => onCancel() })));
    await cancelled;
  });

  test("may answer without a body", async () => {
    const response = await get(
      sendBy(async () => new Response(null, { status: 204 })),
      url,
    );
    expect(await readText(response)).toBe("");
  });
});

test("only so much of a text is read as is wanted", async () => {
  const send = sendBy(
    async () =>
      new Response(ReadableStream.from(["one", "two", "three"]).pipeThrough(new TextEncoderStream())),
  );
  expect(await readTextUpTo(await get(send, new URL("http://127.0.0.1:1/")), 4)).toBe("onet");
});
