// A timeline of a run, drawn from its trace
import { query, type TraceEvent, tool } from "rondo";
import { scriptedModel } from "rondo/testing";

const model = scriptedModel([
  {
    calls: [
      { name: "look_up", input: { city: "Oslo" } },
      { name: "look_up", input: { city: "Rome" } },
    ],
  },
  "Snow in Oslo, sun in Rome.",
]);
const { promise: romeIsKnown, resolve } = Promise.withResolvers<void>();
const lookUp = tool("look_up", "Tell the weather of a city.", { city: String }, async ({ city }) => {
  if (city === "Rome") resolve();
  await romeIsKnown;
  return city === "Oslo" ? "snow" : "sun";
});

interface Bar {
  readonly name: string;
  readonly start: number;
  end: number;
}
const bars = new Map<string, Bar>();
let now = 0; // one column for each event; `event.atMs` has the real time

function onTrace(event: TraceEvent) {
  now += 1;
  const begin = (key: string, name: string) => bars.set(key, { name, start: now, end: now });
  const end = (key: string) => {
    const bar = bars.get(key);
    if (bar) bar.end = now;
  };
  switch (event.type) {
    case "model.asked":
      begin(`prompt ${event.answer}`, `reads ${event.messages} messages`);
      break;
    case "model.started":
      end(`prompt ${event.answer}`);
      begin(`answer ${event.answer}`, "writes");
      break;
    case "model.finished":
      end(`answer ${event.answer}`);
      break;
    case "turn.started":
      begin(event.turnId, `${event.name} ${JSON.stringify(event.input())}`);
      break;
    case "turn.finished":
      end(event.turnId);
      break;
    default:
  }
}

const options = { model, tools: [lookUp], autoExecuteTools: true, onTrace };
await query({ prompt: "What is the weather in Oslo and Rome?", options }).result();

for (const { name, start, end } of bars.values())
  console.log(name.padEnd(24) + "·".repeat(start) + "█".repeat(end - start));
// → reads 1 messages        ··█
// → writes                  ···█
// → look_up {"city":"Oslo"} ·······██
// → look_up {"city":"Rome"} ········██
// → reads 4 messages        ···········█
// → writes                  ············█
