// The demo model with parallel and dependent calls
import { Agent, tool } from "rondo";
import { demoModel } from "rondo/demo";

// Both calls must be in flight before either ends: one after the other, this would hang.
let running = 0;
const { promise: both, resolve } = Promise.withResolvers<void>();
const getWeather = tool("get_weather", "Tell the weather of a city.", { city: String }, async ({ city }) => {
  if (++running === 2) resolve();
  await both;
  return city === "Oslo" ? "snow" : "sun";
});
const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const multiply = tool("multiply", "Multiply two numbers.", { a: Number, b: Number }, ({ a, b }) => a * b);

const agent = new Agent({ name: "helper", model: demoModel(), tools: [getWeather, add, multiply] });
await agent.ask("What is the weather in Paris and Oslo?"); // two calls in one answer
await agent.ask("Add 1 and 2, then multiply by 10."); // the second call needs the result of the first

for await (const [, value] of agent.run()) {
  if (typeof value !== "object") continue; // of a turn that you put yourself
  if (value.type === "tool_use") console.log("calls", value.name, value.input);
  if (value.type === "tool_result") console.log("gets", value.content);
  if (value.type === "result") console.log("says:", value.text);
}
// → calls get_weather { city: 'Paris' }
// → calls get_weather { city: 'Oslo' }
// → gets sun
// → gets snow
// → says: get_weather says: sun. get_weather says: snow.
// → calls add { a: 1, b: 2 }
// → gets 3
// → calls multiply { a: 3, b: 10 }
// → gets 30
// → says: 1 + 2 is 3. 3 * 10 is 30.
