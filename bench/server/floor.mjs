// The floor: a bare hand-written server that converts the output of a chat-completions API to that of the Responses
// API, and nothing else. It validates, stores and resumes nothing, and supports only text.
import { Agent, createServer, request as sendRequest } from "node:http";
import { sseParser } from "../library/sse-lines.mjs";

const agent = new Agent({ keepAlive: true });
const { hostname, port, pathname } = new URL(`${process.argv[2]}/chat/completions`);
let count = 0;

const server = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    const { model, input, stream = false } = JSON.parse(text);
    const messages = typeof input === "string" ? [{ role: "user", content: input }] : input.map(toMessage);
    const number = ++count;
    const base = { id: `resp_${number}`, object: "response", created_at: 1_750_000_000, model };
    const body = JSON.stringify({ model, messages, stream });
    const upstream = post(body, (incoming) =>
      (stream ? answerStream : answerPlain)(incoming, response, base, `msg_${number}`),
    );
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  console.log(`at http://127.0.0.1:${server.address().port}/v1`);
});

function toMessage({ role, content }) {
  return { role, content };
}

function post(body, onResponse) {
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const sent = sendRequest({ agent, hostname, port, path: pathname, method: "POST", headers }, onResponse);
  sent.end(body);
  return sent;
}

function answerPlain(incoming, response, base, id) {
  let text = "";
  incoming.setEncoding("utf8");
  incoming.on("data", (part) => (text += part));
  incoming.on("end", () => {
    const { choices, usage } = JSON.parse(text);
    const bytes = Buffer.from(
      JSON.stringify({
        ...base,
        status: "completed",
        output: [message(id, choices[0].message.content)],
        usage,
      }),
    );
    response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
    response.end(bytes);
  });
}

function answerStream(incoming, response, base, id) {
  let sequence_number = 0;
  let text = "";
  let usage;
  let pending = "";
  const send = (type, fields) => {
    pending += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...fields })}\n\n`;
  };
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const read = sseParser((data) => {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data);
    const delta = chunk.choices[0]?.delta.content;
    usage = chunk.usage ?? usage;
    if (!delta) return;
    text += delta;
    send("response.output_text.delta", { ...place, delta, logprobs: [] });
  });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  send("response.created", { response: { ...base, status: "in_progress", output: [] } });
  send("response.in_progress", { response: { ...base, status: "in_progress", output: [] } });
  send("response.output_item.added", { output_index: 0, item: { ...message(id, ""), content: [] } });
  send("response.content_part.added", { ...place, part: part("") });
  incoming.setEncoding("utf8");
  incoming.on("data", (bytes) => {
    read(bytes);
    if (pending === "") return;
    // Chunks that arrived together are sent together.
    const isFull = !response.write(pending);
    pending = "";
    if (!isFull) return;
    incoming.pause();
    response.once("drain", () => incoming.resume());
  });
  incoming.on("end", () => {
    const item = message(id, text);
    send("response.output_text.done", { ...place, text, logprobs: [] });
    send("response.content_part.done", { ...place, part: part(text) });
    send("response.output_item.done", { output_index: 0, item });
    send("response.completed", { response: { ...base, status: "completed", output: [item], usage } });
    response.end(`${pending}data: [DONE]\n\n`);
  });
}

function message(id, text) {
  return { type: "message", id, role: "assistant", status: "completed", content: [part(text)] };
}

function part(text) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}
