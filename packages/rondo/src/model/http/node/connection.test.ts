import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type HttpResponse, readText } from "../http.ts";
import { send } from "../http-node.ts";
import { certificate, certificateKey } from "../testkit/certificate.ts";

const never = new AbortController().signal;

/** A server by hand. `reply` gets each request, whole, and the number of its connection. */
async function serve(reply: (socket: Socket, request: string, connection: number) => void): Promise<URL> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    const number = connections;
    sockets.add(socket);
    let request = "";
    socket.on("error", () => {});
    socket.setEncoding("latin1").on("data", (text: string) => {
      request += text;
      const length = Number(/content-length: (\d+)/.exec(request)?.[1] ?? 0);
      const head = request.indexOf("\r\n\r\n") + 4;
      if (head < 4 || request.length < head + length) return;
      reply(socket, request, number);
      request = "";
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path?a=b`);
}

const get = (url: URL, headers = {}) => send({ method: "GET", url, headers, signal: never });
const textOf = (response: HttpResponse) => readText(response, 1_000_000);
const ok = (body: string | number, fields = "") =>
  `HTTP/1.1 200 OK\r\n${fields}content-length: ${`${body}`.length}\r\n\r\n${body}`;

test("a request is sent as it should be, and nothing in a header breaks it", async () => {
  const requests: string[] = [];
  const url = await serve((socket, request) => {
    requests.push(request);
    socket.write(ok("fine"));
  });
  const headers = { "x-name": "Größe", "content-length": "7", "transfer-encoding": "chunked" };
  await textOf(await send({ method: "POST", url, headers, body: ["é", "{}"], signal: never }));
  await textOf(await get(url, { host: "other", connection: "close" }));
  expect(requests).toEqual([
    `POST /path?a=b HTTP/1.1\r\nhost: ${url.host}\r\nx-name: Größe\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\n\u00c3\u00a9{}`,
    "GET /path?a=b HTTP/1.1\r\nhost: other\r\nconnection: close\r\n\r\n",
  ]);
  for (const header of [{ "x-a": "b\r\nx-c: d" }, { "x-a": "€" }, { "x a": "b" }])
    await expect(get(url, header)).rejects.toThrow("characters that headers cannot have");
  expect(requests).toHaveLength(2);
});

test.each([
  ["is kept", "", 1],
  ["is not kept if the server says so", "connection: Close\r\n", 2],
  ["is not kept for longer than the server does", "keep-alive: timeout=1, max=5\r\n", 2],
  ["is kept for as long as the server does", "keep-alive: timeout=60\r\n", 1],
])("a connection %s", async (_, fields, wanted) => {
  const url = await serve((socket, _request, connection) => socket.write(ok(connection, fields)));
  expect(await textOf(await get(url))).toBe("1");
  expect(await textOf(await get(url))).toBe(`${wanted}`);
});

test("a connection that the server closes meanwhile, or on which it says more, is not used again", async () => {
  const url = await serve((socket, _request, connection) => {
    if (connection === 1) socket.write(ok("first", "x: y\r\n"), () => socket.end());
    else if (connection === 2) socket.write(`${ok("second")}HTTP/1.1 200 OK\r\n`);
    else if (connection === 3) socket.write(ok("third"), () => socket.write("more"));
    else socket.write(ok("last"));
  });
  const texts: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    texts.push(await textOf(await get(url)));
    // Until what follows the reply has come.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(texts).toEqual(["first", "second", "third", "last"]);
});

test("what is not HTTP is refused, and the connection with it", async () => {
  const url = await serve((socket, _request, connection) =>
    socket.write(connection === 1 ? "220 mail.example ESMTP\r\n" : ok("fine")),
  );
  await expect(get(url)).rejects.toThrow("The reply is not HTTP/1.1: it does not begin");
  expect(await textOf(await get(url))).toBe("fine");
});

test("a body that turns out to be broken is an error, after what came before", async () => {
  const url = await serve((socket) =>
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\ngood\r\n", () => {
      setTimeout(() => socket.write("oops\r\n"), 20);
    }),
  );
  const response = await get(url);
  let text = "";
  const reading = response.read((bytes) => {
    text += new TextDecoder().decode(bytes);
    return false;
  });
  await expect(reading).rejects.toMatchObject({ code: "ERR_INVALID_REPLY" });
  expect(text).toBe("good");
});

test("a reply is complete once all of its body has come, and not before", async () => {
  const url = await serve((socket, request) => {
    if (request.startsWith("GET")) socket.write(ok("whole"));
    else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwho");
    if (request.startsWith("POST")) setTimeout(() => socket.write("le"), 50);
  });
  expect((await get(url)).isComplete).toBe(true);
  const begun = await send({ method: "POST", url, headers: {}, body: ["{}"], signal: never });
  expect(begun.isComplete).toBe(false);
  expect(await textOf(begun)).toBe("whole");
  expect(begun.isComplete).toBe(true);
});

test("headers that are sent again are the same, and others are checked", async () => {
  const requests: string[] = [];
  const url = await serve((socket, request) => {
    requests.push(request);
    socket.write(ok("fine"));
  });
  const headers = Object.freeze({ "x-name": "a" });
  for (let count = 0; count < 2; count++) await textOf(await get(url, headers));
  expect(requests[1]).toBe(requests[0]);
  // One that is not frozen may change.
  const changed: Record<string, string> = { "x-name": "b" };
  await textOf(await get(url, changed));
  changed["x-name"] = "c";
  await textOf(await get(url, changed));
  expect(requests.slice(2).map((request) => /x-name: (.)/.exec(request)?.[1])).toEqual(["b", "c"]);
  await expect(get(url, Object.freeze({ "x-name": "a\r\nx: y" }))).rejects.toThrow(/characters/);
});

test("bytes that came before they are read are not overwritten by those of others", async () => {
  const url = await serve((socket, request) =>
    socket.write(ok((request.includes("x-b") ? "b" : "a").repeat(5_000))),
  );
  const first = await get(url, { "x-a": "1" });
  const second = await get(url, { "x-b": "1" });
  expect(await textOf(first)).toBe("a".repeat(5_000));
  expect(await textOf(second)).toBe("b".repeat(5_000));
});

test("an idle time that the server allows begins with the end of a reply", async () => {
  const url = await serve((socket, _request, connection) => {
    socket.write("HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 1\r\n\r\n");
    setTimeout(() => socket.write(`${connection}`), 1_100);
  });
  expect(await textOf(await get(url))).toBe("1");
  expect(await textOf(await get(url))).toBe("1");
});

test("what is read runs in the context of its own request", async () => {
  const url = await serve((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n");
    setTimeout(() => socket.write("ok"), 5);
  });
  const storage = new AsyncLocalStorage<string>();
  for (const name of ["a", "b"])
    await storage.run(name, async () => {
      const response = await get(url);
      await response.read(() => {
        expect(storage.getStore()).toBe(name);
        return false;
      });
      expect(storage.getStore()).toBe(name);
    });
  expect.assertions(4);
});

test.each(["while it is paused", "while it is taken"])(
  "an abort ends a compressed body that has come: %s",
  async (when) => {
    const packed = gzipSync(Buffer.alloc(3_000_000)).toString("latin1");
    const url = await serve((socket) =>
      socket.write(Buffer.from(ok(packed, "content-encoding: gzip\r\n"), "latin1")),
    );
    const controller = new AbortController();
    const response = await send({ method: "GET", url, headers: {}, signal: controller.signal });
    const abort = () => controller.abort("enough");
    let taken = 0;
    const reading = response.read(() => {
      taken += 1;
      if (when === "while it is paused") {
        response.pause();
        setTimeout(abort, 50);
      } else abort();
      return false;
    });
    await expect(reading).rejects.toBe("enough");
    expect(taken).toBe(1);
  },
);

test("errors do not quote what the server sent: it may repeat the key", async () => {
  const url = await serve((socket, request) => {
    const key = /authorization: (.*)\r\n/.exec(request)?.[1];
    socket.write(`HTTP/1.1 200 OK\r\nbad ${key} line\r\n\r\n`);
  });
  const failing = get(url, { authorization: "Bearer secret-key" });
  await expect(failing).rejects.toThrow("it has a line that is not a header");
  await expect(failing).rejects.not.toThrow("secret");
});

test("many small pieces that came while it was paused are taken together", async () => {
  const count = 500;
  const url = await serve((socket) => {
    socket.setNoDelay(true);
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n");
    let left = count;
    const next = () => {
      if (left === 0) socket.write("0\r\n\r\n");
      else socket.write("1\r\nb\r\n", () => setImmediate(next));
      left -= 1;
    };
    next();
  });
  const response = await get(url);
  const pieces: string[] = [];
  await response.read((bytes) => {
    pieces.push(new TextDecoder().decode(bytes));
    if (pieces.length === 1) {
      response.pause();
      setTimeout(() => response.resume(), 300);
    }
    return false;
  });
  expect(pieces.join("")).toBe(`a${"b".repeat(count)}`);
  expect(pieces.length).toBeLessThan(count / 2);
});

test("TLS is spoken with a server whose certificate is trusted, and its connection is kept", async () => {
  const server = createHttps({ cert: certificate, key: certificateKey }, (request, response) => {
    const { alpnProtocol, servername } = request.socket as TLSSocket;
    response.end(JSON.stringify({ alpnProtocol, servername }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  let connections = 0;
  server.on("secureConnection", () => (connections += 1));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  await expect(get(new URL(`https://localhost:${port}/`))).rejects.toMatchObject({
    code: "DEPTH_ZERO_SELF_SIGNED_CERT",
  });
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, certificate]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  for (let count = 0; count < 2; count += 1)
    expect(JSON.parse(await textOf(await get(new URL(`https://localhost:${port}/`))))).toEqual({
      alpnProtocol: "http/1.1",
      servername: "localhost",
    });
  await textOf(await get(new URL(`https://127.0.0.1:${port}/`)));
  expect(connections).toBe(2);
});
