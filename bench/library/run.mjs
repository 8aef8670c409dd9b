// One contender, one measure, one process: `node run.mjs MODULE URL PROMPT COUNT ROUNDS [long]`. With the count 0 it
// reports the time from the start of the process to the first answer, or for the prompt `import` the CPU time of the
// import alone; else the CPU time of COUNT concurrent prompts, in each of ROUNDS repetitions. With `long`, each prompt
// comes after a long conversation, and with many tools.
const [module, url, prompt, count, rounds, form] = process.argv.slice(2);

// Some peers would send telemetry.
process.env.DO_NOT_TRACK = "1";
process.env.MASTRA_TELEMETRY_DISABLED = "1";
process.env.OPENAI_AGENTS_DISABLE_TRACING = "1";
process.env.OPENAI_API_KEY = "none";

const beforeImport = process.cpuUsage();
const { contender } = await import(module);
const imported = cpuMs(beforeImport);
let calls = 0;
// Tools are defined once, as in a program; each records here that it was called.
const ask = contender(url, () => calls++, form === "long" ? await import("./long-request.mjs") : undefined);
if (prompt === "import") report({ milliseconds: imported, deltas: 0 });
else if (count === "0") {
  const outcome = await ask(prompt);
  const milliseconds = performance.now();
  await check([outcome]);
  report({ milliseconds, deltas: 1 });
} else {
  // One-time work is not part of the cost of a chunk or a round: the cold start measures it.
  await ask("stream 1");
  await ask("loop 1");
  calls = 0;
  const before = process.cpuUsage();
  const outcomes = [];
  for (let round = 0; round < Number(rounds); round++)
    outcomes.push(...(await Promise.all(Array.from({ length: Number(count) }, () => ask(prompt)))));
  const milliseconds = cpuMs(before) / Number(rounds);
  await check(outcomes);
  report({ milliseconds, deltas: outcomes[0].deltas });
}

function cpuMs(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A contender that skips work must not look fast. Loaded late, so that its import is not measured. */
async function check(outcomes) {
  const { expectedOf } = await import("./tasks.ts");
  const expected = expectedOf(prompt);
  for (const { text, deltas } of outcomes)
    if (text !== expected.text)
      throw new Error(`'${prompt}' returned ${text.length} characters in ${deltas} deltas.`);
  if (calls !== expected.calls * outcomes.length)
    throw new Error(`'${prompt}' has led to ${calls} calls, not ${expected.calls * outcomes.length}.`);
}

function report(figure) {
  process.stdout.write(`${JSON.stringify(figure)}\n`, () => process.exit());
}
