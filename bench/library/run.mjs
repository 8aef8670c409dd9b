// One contender, one measure, one process: `node run.mjs MODULE URL PROMPT COUNT ROUNDS`. With the count 0 it reports
// the time from the start of the process to the first answer; else the CPU time of COUNT concurrent prompts, in each
// of ROUNDS repetitions.
const [module, url, prompt, count, rounds] = process.argv.slice(2);

// Some peers would send telemetry.
process.env.DO_NOT_TRACK = "1";
process.env.MASTRA_TELEMETRY_DISABLED = "1";
process.env.OPENAI_AGENTS_DISABLE_TRACING = "1";
process.env.OPENAI_API_KEY = "none";

const { contender } = await import(module);
let calls = 0;
// Tools are defined once, as in a program; each records here that it was called.
const ask = contender(url, () => calls++);
if (count === "0") {
  check(await ask("stream 1"), "stream 1");
  report({ milliseconds: performance.now(), deltas: 1 });
} else {
  // One-time work is not part of the cost of a chunk or a round: the cold start measures it.
  await ask("stream 1");
  await ask("loop 1");
  calls = 0;
  const before = process.cpuUsage();
  const outcomes = [];
  for (let round = 0; round < Number(rounds); round++)
    outcomes.push(...(await Promise.all(Array.from({ length: Number(count) }, () => ask(prompt)))));
  const { user, system } = process.cpuUsage(before);
  for (const outcome of outcomes) check(outcome, prompt);
  const [kind, size] = prompt.split(" ");
  const expectedCalls = isText(kind) ? 0 : Number(size) * outcomes.length;
  if (calls !== expectedCalls)
    throw new Error(`'${prompt}' has led to ${calls} calls, not ${expectedCalls}.`);
  report({ milliseconds: (user + system) / 1000 / Number(rounds), deltas: outcomes[0].deltas });
}

/** A contender that skips work must not look fast. */
function check({ text, deltas }, task) {
  const [kind, size] = task.split(" ");
  const expectedPieces = isText(kind) ? Number(size) : 3;
  if (text !== " word".repeat(expectedPieces))
    throw new Error(`'${task}' returned ${text.length} characters in ${deltas} deltas.`);
}

function isText(kind) {
  return kind === "stream" || kind === "burst";
}

function report(figure) {
  process.stdout.write(`${JSON.stringify(figure)}\n`, () => process.exit());
}
