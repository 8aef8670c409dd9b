// The floor: `fetch` with a hand-written parser and loop.
import { runLoop } from "./floor.mjs";

export function contender(url, onCall, request) {
  const address = `${url}/chat/completions`;
  const post = async (body, read) => {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const decoder = new TextDecoder();
    for await (const bytes of response.body) read(decoder.decode(bytes, { stream: true }));
  };
  return (prompt) => runLoop(post, prompt, onCall, request);
}
