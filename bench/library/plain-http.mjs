// The floor on `node:http`.
import { Agent, request as send } from "node:http";
import { runLoop } from "./floor.mjs";

export function contender(url, onCall, request) {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname } = new URL(`${url}/chat/completions`);
  const post = (body, read) =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const sent = send({ agent, hostname, port, path: pathname, method: "POST", headers }, (response) => {
        response.setEncoding("utf8");
        response.on("data", read);
        response.on("end", resolve);
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  return (prompt) => runLoop(post, prompt, onCall, request);
}
