// The program that runs JavaScript code in a container. It must work with nothing but Node.

/**
 * It speaks as the driver of Python does. Code runs in the main thread as in the console of a browser: variables stay
 * and can be declared again, and await works. Nothing of the driver is global. A second thread reads the standard input, so that it can stop the first.
 */
export const javascriptDriver = String.raw`
(() => {
const { Worker } = require("node:worker_threads");
const { Session } = require("node:inspector");
const { writeSync } = require("node:fs");
const { inspect } = require("node:util");
const Module = require("node:module");

function listen() {
  const { Session } = require("node:inspector");
  const { parentPort } = require("node:worker_threads");
  const session = new Session();
  session.connectToMainThread();
  let hasMarker = false;
  let pending;
  let rest = Buffer.alloc(0);
  const stdin = new (require("node:net").Socket)({ fd: 0, readable: true, writable: false });
  const end = () => process.kill(process.pid, "SIGKILL");
  stdin.on("end", end).on("error", end).on("data", (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      if (pending !== undefined) {
        if (rest.length < pending.bytes) return;
        parentPort.postMessage({ ...pending, code: rest.subarray(0, pending.bytes).toString() });
        rest = rest.subarray(pending.bytes);
        pending = undefined;
      }
      const length = rest.indexOf(10);
      if (length < 0) return;
      const line = rest.subarray(0, length).toString();
      rest = rest.subarray(length + 1);
      if (!hasMarker) {
        hasMarker = true;
        parentPort.postMessage({ type: "marker", marker: line });
      } else {
        const message = JSON.parse(line);
        if (message.type === "run") pending = message;
        else {
          parentPort.postMessage({ type: "interrupt" });
          session.post("Runtime.terminateExecution", () => {});
        }
      }
    }
  });
}

const session = new Session();
session.connect();
let marker;
let interrupt;
const post = (method, params) =>
  new Promise((resolve, reject) =>
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result))));

function writeAll(fd, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
function send(type, payload = Buffer.alloc(0), fields = {}, fd = 1) {
  const header = JSON.stringify({ type, bytes: payload.length, ...fields });
  writeAll(fd, Buffer.concat([marker, Buffer.from(header + "\n"), payload]));
}
function shortened(text, limit) {
  const bytes = Buffer.from(text);
  return bytes.length <= limit ? bytes : Buffer.concat([bytes.subarray(0, limit), Buffer.from("\n... (shortened)")]);
}
function report(name, text, limits) {
  const lines = text.split("\n").filter((line) => !/^\s+at (.*(node:|\[eval\])|new Promise \(<anonymous>\))/.test(line));
  send("error", shortened(lines.join("\n"), limits.maxTextBytes), {
    name: String(name).slice(0, 200),
    message: lines[0].slice(0, 2000),
  });
}
function show(value) {
  return inspect(value, { maxArrayLength: 200, maxStringLength: 20000 });
}
async function evaluate({ call, code, limits }) {
  const { result, exceptionDetails: thrown } = await post("Runtime.evaluate", {
    expression: code + "\n//# sourceURL=cell-" + call + ".js",
    replMode: true,
    awaitPromise: true,
    objectGroup: "call",
  });
  if (thrown !== undefined) {
    const error = thrown.exception ?? {};
    return report(error.className ?? "Error", String(error.description ?? error.value ?? thrown.text), limits);
  }
  if (result.type === "undefined") return;
  const { result: text } = await post("Runtime.callFunctionOn", {
    functionDeclaration: "function (value) { return this(value); }",
    objectId: showId,
    arguments: [result.objectId === undefined ? plain(result) : { objectId: result.objectId }],
    returnByValue: true,
  });
  send("result", shortened(String(text.value), limits.maxTextBytes));
}
function plain({ value, unserializableValue }) {
  return unserializableValue === undefined ? { value } : { unserializableValue };
}
async function run(message) {
  const interrupted = new Promise((_, reject) => { interrupt = () => reject(new Error("The code was interrupted.")); });
  try {
    await Promise.race([evaluate(message), interrupted]);
  } catch (error) {
    report("Error", "Error: " + error.message, message.limits);
  }
  interrupt = undefined;
  await post("Runtime.releaseObjectGroup", { objectGroup: "call" }).catch(() => {});
  send("end", undefined, { call: message.call }, 2);
  send("end", undefined, { call: message.call });
}

let showId;
let queue = Promise.resolve();
async function onMessage(message) {
  if (message.type === "interrupt") interrupt?.();
  else if (message.type === "run") queue = queue.then(() => run(message));
  else {
    marker = Buffer.from(message.marker);
    globalThis.rondoShow = show;
    showId = (await post("Runtime.evaluate", { expression: "globalThis.rondoShow" })).result.objectId;
    delete globalThis.rondoShow;
    send("ready");
  }
}
globalThis.require = Module.createRequire("/mnt/data/");
process.on("uncaughtException", (error) => console.error(error));
process.on("unhandledRejection", (error) => console.error(error));
new Worker("(" + listen + ")()", { eval: true }).on("message", onMessage);
})();
`;
