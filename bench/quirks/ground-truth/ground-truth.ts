// `npm run ground-truth -- --tasks FOLDER --templates FOLDER`: how many known answers Rondo reads correctly when a
// model writes them in the form of its own chat template. The tasks are BFCL v4 data; the templates are `.jinja`
// files, such as those in llama.cpp's models/templates. Neither is part of this repository.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { setLogger } from "rondo";
import { ChatTemplate, loadTemplateEngine } from "./chat-template.ts";
import { randomNumbers, randomPieces } from "./random-pieces.ts";
import { type Reading, readAnswer } from "./read-answer.ts";
import { loadTasks, type Task } from "./tasks.ts";

const usage = `Usage: npm run ground-truth -- --tasks FOLDER --templates FOLDER [options]

  --tasks FOLDER      BFCL v4 data: BFCL_v4_*.json and possible_answer/
  --templates FOLDER  chat templates (*.jinja)
  --limit N           tasks for each template, spread over all (default: 200; 0 for all)
  --only TEXT         only templates whose name contains this
  --seed N            for the random pieces (default: 1)
  --show N            print the first N failures of each template (default: 0)`;

const { values } = parseArgs({
  options: {
    tasks: { type: "string" },
    templates: { type: "string" },
    limit: { type: "string", default: "200" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    show: { type: "string", default: "0" },
    help: { type: "boolean" },
  },
});
if (values.help || !values.tasks || !values.templates) {
  console.log(usage);
  process.exit(values.help ? 0 : 1);
}

type Verdict = "right" | "missed" | "wrong" | "leaked";

/** The result of one way to send the answers. */
class Tally {
  readonly counts: Record<Verdict, number> = { right: 0, missed: 0, wrong: 0, leaked: 0 };

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  get share(): string {
    return this.total === 0 ? "–" : `${this.counts.right}/${this.total}`;
  }
}

setLogger({ warn: () => {} });
const random = randomNumbers(Number(values.seed));
const readTemplate = await loadTemplateEngine();
const tasks = await fittingTasks(spread(loadTasks(values.tasks), Number(values.limit)));
const files = globSync(join(values.templates, "*.jinja")).filter((file) =>
  basename(file).includes(values.only),
);
if (tasks.length === 0) throw new Error(`Expected BFCL v4 data in ${values.tasks}, but found no task there.`);
if (files.length === 0)
  throw new Error(`Expected chat templates (*.jinja) in ${values.templates}, but found none.`);

console.log(`${tasks.length} tasks.\n`);
console.log(
  row(
    "template",
    "written",
    "missed",
    "wrong",
    "leaked",
    "without special tokens",
    "false calls of quotations",
  ),
);
const sum = { written: new Tally(), stripped: new Tally(), quoted: new Tally() };
const unusable: string[] = [];
for (const file of files.toSorted()) await measure(file);
console.log(report("all", sum.written, sum.stripped, sum.quoted));
if (unusable.length > 0) console.log(`\nNot usable:\n  ${unusable.join("\n  ")}`);

async function measure(file: string): Promise<void> {
  const name = basename(file, ".jinja").replace(/^tool_chat_template_/, "vllm/");
  const template = new ChatTemplate(readTemplate(readFileSync(file, "utf8")));
  if (template.problem !== undefined) return void unusable.push(`${name}: ${template.problem}`);
  const tallies = { written: new Tally(), stripped: new Tally(), quoted: new Tally() };
  const failures: string[] = [];
  for (const { task, expected } of tasks) {
    const answer = template.write(task);
    if (!answer) continue;
    const { text, startsThinking } = answer;
    const stripped = withoutSpecialTokens(text);
    await judge("written", text);
    if (stripped !== text) await judge("stripped", stripped);
    const quoted = await readAnswer(task, {
      pieces: randomPieces(quotation(text), random),
      startsThinking: false,
    });
    count("quoted", quoted.calls.length + quoted.rejected === 0 ? "right" : "wrong", quotation(text), quoted);

    async function judge(kind: "written" | "stripped", answer: string): Promise<void> {
      const reading = await readAnswer(task, { pieces: randomPieces(answer, random), startsThinking });
      count(kind, verdict(reading, expected), answer, reading);
    }
    function count(kind: keyof typeof tallies, result: Verdict, answer: string, reading: Reading): void {
      tallies[kind].counts[result]++;
      sum[kind].counts[result]++;
      if (result === "right") return;
      const seen = { calls: reading.calls, text: reading.text, rejected: reading.rejected };
      failures.push(
        `  ${kind}, ${result}, ${task.id}: ${JSON.stringify(answer)}\n    read: ${JSON.stringify(seen)}`,
      );
    }
  }
  console.log(report(name, tallies.written, tallies.stripped, tallies.quoted));
  for (const failure of failures.slice(0, Number(values.show))) console.log(failure);
}

/** The tasks with what Rondo reads of their calls when a server has parsed them; answers that break their own schema are left out. */
async function fittingTasks(all: readonly Task[]): Promise<{ task: Task; expected: Reading }[]> {
  const readings = await Promise.all(
    all.map(async (task) => ({ task, expected: await readAnswer(task, { calls: task.calls }) })),
  );
  return readings.filter(({ expected }) => expected.rejected === 0);
}

function verdict(reading: Reading, expected: Reading): Verdict {
  if (!isDeepStrictEqual(reading.calls, expected.calls))
    return expected.calls.every((call) => reading.calls.some((other) => isDeepStrictEqual(call, other))) ||
      reading.calls.some((call) => !expected.calls.some((other) => isDeepStrictEqual(call, other)))
      ? "wrong"
      : "missed";
  return reading.text.trim() === "" ? "right" : "leaked";
}

/** What is left where a server removes the tokens that its tokenizer calls special. */
function withoutSpecialTokens(text: string): string {
  return text.replaceAll(/<\|[^|<>]{1,40}\|>|<｜[^｜<>]{1,40}｜>|\[(?:TOOL_CALLS|ARGS|CALL_ID)\]/g, "");
}

/** Text that shows a call and makes none. */
function quotation(answer: string): string {
  return `A call looks like this:\n\n\`\`\`\n${answer.trim()}\n\`\`\`\n\nDo not send it yet: tell me first whether you agree.`;
}

function spread<T>(list: readonly T[], limit: number): readonly T[] {
  if (limit === 0 || list.length <= limit) return list;
  return Array.from({ length: limit }, (_, i) => list[Math.floor((i * list.length) / limit)] as T);
}

function report(name: string, written: Tally, stripped: Tally, quoted: Tally): string {
  const { missed, wrong, leaked } = written.counts;
  return row(
    name,
    written.share,
    `${missed}`,
    `${wrong}`,
    `${leaked}`,
    stripped.share,
    `${quoted.counts.wrong}/${quoted.total}`,
  );
}

function row(name: string, ...cells: string[]): string {
  const widths = [11, 8, 7, 8, 24, 0];
  return `${name.padEnd(52)}${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("")}`;
}
