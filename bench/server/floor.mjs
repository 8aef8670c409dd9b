// The floor: a bare hand-written server that converts the output of a chat-completions API to that of the Responses
// API, and nothing else. It validates, stores and resumes nothing, and knows text, thinking, and the one tool `add`: a
// plain request runs it by hand, a stream passes its calls on.
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
    const { model, input, stream = false, tools } = JSON.parse(text);
    const messages = typeof input === "string" ? [{ role: "user", content: input }] : input.map(toMessage);
    const number = ++count;
    const base = { id: `resp_${number}`, object: "response", created_at: 1_750_000_000, model };
    const ask = () => {
      const upstream = post(JSON.stringify({ model, messages, stream, tools }), (incoming) => {
        if (stream) answerStream(incoming, response, base, number);
        else answerPlain(incoming, response, base, `msg_${number}`, { messages, ask });
      });
      upstream.on("error", () => response.destroy());
      response.on("close", () => upstream.destroy());
    };
    ask();
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

function answerPlain(incoming, response, base, id, { messages, ask }) {
  let text = "";
  incoming.setEncoding("utf8");
  incoming.on("data", (part) => (text += part));
  incoming.on("end", () => {
    const { choices, usage } = JSON.parse(text);
    const { tool_calls: calls } = choices[0].message;
    if (calls) {
      messages.push(choices[0].message, ...calls.map(resultOf));
      ask();
      return;
    }
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

function resultOf({ id, function: call }) {
  const { a, b } = JSON.parse(call.arguments);
  return { role: "tool", tool_call_id: id, content: String(a + b) };
}

function answerStream(incoming, response, base, number) {
  let sequence_number = 0;
  let text = "";
  let usage;
  let pending = "";
  const send = (type, fields) => {
    pending += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...fields })}\n\n`;
  };
  const id = `msg_${number}`;
  const thoughtId = `rs_${number}`;
  const output = [];
  const calls = [];
  let thinking = "";
  let place;
  const beginText = () => {
    place = { item_id: id, output_index: output.length, content_index: 0 };
    output.push(undefined);
    send("response.output_item.added", {
      output_index: place.output_index,
      item: { ...message(id, ""), content: [] },
    });
    send("response.content_part.added", { ...place, part: part("") });
  };
  const think = (delta) => {
    const at = { item_id: thoughtId, output_index: 0, summary_index: 0 };
    if (thinking === "") {
      output.push(undefined);
      send("response.output_item.added", { output_index: 0, item: thought(thoughtId, "") });
    }
    thinking += delta;
    send("response.reasoning_summary_text.delta", { ...at, delta });
  };
  const call = ({ index, id: callId, function: { name, arguments: piece } }) => {
    calls[index] ??= {
      type: "function_call",
      id: `fc_${number}_${index}`,
      call_id: callId,
      name,
      arguments: "",
    };
    calls[index].arguments += piece;
  };
  const read = sseParser((data) => {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data);
    const { content: delta, reasoning_content: thoughts, tool_calls: pieces } = chunk.choices[0]?.delta ?? {};
    usage = chunk.usage ?? usage;
    if (thoughts) think(thoughts);
    if (pieces) for (const piece of pieces) call(piece);
    if (!delta) return;
    if (!place) beginText();
    text += delta;
    send("response.output_text.delta", { ...place, delta, logprobs: [] });
  });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  send("response.created", { response: { ...base, status: "in_progress", output: [] } });
  send("response.in_progress", { response: { ...base, status: "in_progress", output: [] } });
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
    if (thinking !== "") {
      output[0] = thought(thoughtId, thinking);
      send("response.output_item.done", { output_index: 0, item: output[0] });
    }
    if (place) {
      const item = message(id, text);
      output[place.output_index] = item;
      send("response.output_text.done", { ...place, text, logprobs: [] });
      send("response.content_part.done", { ...place, part: part(text) });
      send("response.output_item.done", { output_index: place.output_index, item });
    }
    for (const item of calls) {
      const at = { item_id: item.id, output_index: output.length };
      output.push(item);
      send("response.output_item.added", { output_index: at.output_index, item: { ...item, arguments: "" } });
      send("response.function_call_arguments.delta", { ...at, delta: item.arguments });
      send("response.function_call_arguments.done", { ...at, arguments: item.arguments });
      send("response.output_item.done", { output_index: at.output_index, item });
    }
    send("response.completed", { response: { ...base, status: "completed", output, usage } });
    response.end(`${pending}data: [DONE]\n\n`);
  });
}

function thought(id, text) {
  return { type: "reasoning", id, summary: text === "" ? [] : [{ type: "summary_text", text }] };
}

function message(id, text) {
  return { type: "message", id, role: "assistant", status: "completed", content: [part(text)] };
}

function part(text) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}
