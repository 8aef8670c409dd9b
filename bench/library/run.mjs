// One contender, one measure, one process: `node run.mjs MODULE URL PROMPT COUNT ROUNDS`. With the count 0 it tells the
// time from the start of the process to the first answer; else the CPU time that COUNT prompts at once take, in each
// of ROUNDS rounds.
const [module, url, prompt, count, rounds] = process.argv.slice(2);

// Some peers would ask servers on the internet whether their user likes to be counted.
process.env.DO_NOT_TRACK = "1";
process.env.MASTRA_TELEMETRY_DISABLED = "1";
process.env.OPENAI_AGENTS_DISABLE_TRACING = "1";
process.env.OPENAI_API_KEY = "none";

const { contender } = await import(module);
const ask = contender(url);
if (count === "0") {
  check(await ask("stream 1"), "stream 1");
  report({ milliseconds: performance.now(), pieces: 1 });
} else {
  // What is done only once is no part of the cost of a chunk or a turn: it is what the cold start measures.
  await ask("stream 1");
  await ask("loop 1");
  const before = process.cpuUsage();
  const outcomes = [];
  for (let round = 0; round < Number(rounds); round++)
    outcomes.push(...(await Promise.all(Array.from({ length: Number(count) }, () => ask(prompt)))));
  const { user, system } = process.cpuUsage(before);
  for (const outcome of outcomes) check(outcome, prompt);
  report({ milliseconds: (user + system) / 1000 / Number(rounds), pieces: outcomes[0].pieces });
}

/** Whoever leaves something out must not look fast. */
function check({ text, pieces, calls }, task) {
  const [kind, size] = task.split(" ");
  const isText = kind === "stream" || kind === "burst";
  const expectedCalls = isText ? 0 : Number(size);
  const expectedPieces = isText ? Number(size) : 3;
  if (text !== " word".repeat(expectedPieces) || calls !== expectedCalls)
    throw new Error(`'${task}' has given ${text.length} characters in ${pieces} pieces and ${calls} calls.`);
}

function report(figure) {
  process.stdout.write(`${JSON.stringify(figure)}\n`, () => process.exit());
}
