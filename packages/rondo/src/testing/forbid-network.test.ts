import dns, { lookup } from "node:dns";
import { once } from "node:events";
import { get } from "node:http";
import { connect, createServer, type Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import {
  type ForbidNetworkOptions,
  forbidNetwork,
  NetworkForbiddenError,
  startModelServer,
} from "./index.ts";

// A name and an address that are reserved for documentation: were the switch broken, nobody would be there.
const name = "model.example";
const address = "192.0.2.1";

function forbidDuringTest(options?: ForbidNetworkOptions): void {
  const network = forbidNetwork(options);
  onTestFinished(() => network[Symbol.dispose]());
}

const failureOf = async (socket: Socket): Promise<unknown> => (await once(socket, "error"))[0];

test.each<[string, () => Promise<unknown>]>([
  ["net.connect", () => failureOf(connect({ host: name, port: 80 }))],
  ["connect of a socket", () => failureOf(new Socket().connect(80, name))],
  ["connect with a port as text", () => failureOf(new Socket().connect("80" as never, name))],
  ["tls.connect", () => failureOf(connectTls({ host: name, port: 443 }))],
  ["http.get", async () => (await once(get(`http://${name}/`), "error"))[0]],
  ["fetch", () => fetch(`https://${name}/`).catch((error: Error) => error.cause)],
  ["dns.lookup", () => new Promise((resolve) => lookup(name, resolve))],
  ["dns.resolve", () => new Promise((resolve) => dns.resolve(name, resolve))],
  ["dns.promises", () => dns.promises.lookup(name).catch((error: unknown) => error)],
])("%s is refused, with an error that names the host and the way out", async (_name, attempt) => {
  forbidDuringTest();
  const error = await attempt();
  expect(error).toBeInstanceOf(NetworkForbiddenError);
  expect(error).toMatchObject({
    code: "network_forbidden",
    host: name,
    message: expect.stringContaining(`allow it: forbidNetwork({ allow: ["${name}"] })`),
  });
});

test.each([address, "8.8.8.8", "2001:db8::1", "::ffff:192.0.2.1", "localhost.example", "127.0.0.1.example"])(
  "%s is not this machine",
  async (host) => {
    forbidDuringTest();
    expect(await failureOf(connect({ host, port: 80 }))).toMatchObject({ host });
  },
);

test("loopback stays allowed by each of its names", async () => {
  forbidDuringTest();
  await using server = await startModelServer([]);
  for (const host of ["127.0.0.1", "localhost", "LOCALHOST", "0.0.0.0"]) {
    const response = await fetch(`${server.url.replace("127.0.0.1", host)}/models`);
    expect(response.status).toBe(200);
  }
  const socket = connect(Number(new URL(server.url).port));
  await once(socket, "connect");
  socket.destroy();
});

test("sockets in the file system stay allowed", async () => {
  forbidDuringTest();
  const path = join(tmpdir(), `rondo-${process.pid}.sock`);
  const server: Server = createServer((socket) => socket.end()).listen(path);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const socket = connect(path);
  await expect(once(socket, "connect")).resolves.toEqual([]);
  socket.destroy();
});

test("a host that is allowed is tried, if each of several allows it", async () => {
  forbidDuringTest({ allow: [name.toUpperCase(), address] });
  const tried = connect({ host: address, port: 80 });
  expect(tried.connecting).toBe(true);
  tried.destroy();

  const strict = forbidNetwork();
  const refused = await failureOf(connect({ host: address, port: 80 }));
  expect(refused).toBeInstanceOf(NetworkForbiddenError);
  strict[Symbol.dispose]();
  strict[Symbol.dispose]();

  const again = connect({ host: address, port: 80 });
  expect(again.connecting).toBe(true);
  again.destroy();
});

test("everything is as before when the last one is disposed of, in any order", () => {
  const functions = () => [Reflect.get(Socket.prototype, "connect"), dns.lookup, dns.promises.resolve];
  const before = functions();
  const first = forbidNetwork();
  const second = forbidNetwork();
  const during = functions();
  for (const [index, original] of before.entries()) expect(during[index]).not.toBe(original);
  first[Symbol.dispose]();
  expect(functions()).toEqual(during);
  second[Symbol.dispose]();
  expect(functions()).toEqual(before);
});
