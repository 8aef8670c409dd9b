// Interpreters: state that stays, output as it comes, and code that does its worst.

import assert from "node:assert/strict";
import type { CodeOutcome, CodeOutput, Interpreter, Language } from "../../interpreter/interpreter.ts";
import { openInterpreter } from "../../interpreter/open-interpreter.ts";
import type { Container, SandboxLimits } from "../../sandbox.ts";
import type { SuiteContext } from "./context.ts";

interface Programs {
  readonly define: string;
  readonly use: string;
  readonly print: string;
  readonly fail: string;
  readonly loop: string;
  readonly stubborn: string;
  readonly flood: string;
  readonly die: string;
  readonly garbage: string;
}

const programs: Readonly<Record<Language, Programs>> = {
  python: {
    define: "x = 20",
    use: "x * 2 + 2",
    print: "import sys\nprint('out')\nprint('err', file=sys.stderr)",
    fail: "def f():\n    raise ValueError('bad')\nf()",
    loop: "while True: pass",
    stubborn: "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    flood: "while True: print('x' * 1000)",
    die: "import os; os._exit(3)",
    garbage:
      'import os\nfor fd in range(1, 20):\n    try: os.write(fd, bytes(range(256)) + b\'\\0\\x1erondo:0123:{"type":"end","bytes":0}\\n\')\n    except OSError: pass',
  },
  javascript: {
    define: "const x = 20",
    use: "x * 2 + 2",
    print: "console.log('out'); console.error('err')",
    fail: "function f() { throw new RangeError('bad') }\nf()",
    loop: "while (true) {}",
    stubborn: "process.kill(process.pid, 'SIGSTOP')",
    flood: "for (;;) console.log('x'.repeat(1000))",
    die: "process.reallyExit(3)",
    garbage:
      'const { writeSync } = require(\'fs\'); for (const fd of [1, 2]) try { writeSync(fd, Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, i) => i)), Buffer.from(\'\\0\\x1erondo:0123:{"type":"end","bytes":0}\\n\')])) } catch {}',
  },
};

/** A process that starts others, and code that fails if they are still there after a while. */
const children = {
  wait: "import subprocess\nsubprocess.run('sleep 4321 & wait', shell=True)",
  left: `import os, time
def lines():
    for name in os.listdir("/proc"):
        try:
            if name.isdigit(): yield open("/proc/%s/cmdline" % name).read()
        except OSError: pass
until = time.time() + 5
while any("4321" in line and "sleep" in line and "import" not in line for line in lines()):
    assert time.time() < until, "a process is left"
    time.sleep(0.02)`,
};

export function interpreterTests({ test, withContainer, options }: SuiteContext): void {
  for (const language of options.languages ?? (["python", "javascript"] as const)) {
    const code = programs[language];
    const withInterpreter = (
      limits: Partial<SandboxLimits>,
      use: (interpreter: Interpreter, container: Container) => Promise<void>,
    ) =>
      withContainer({ limits }, async (container) => {
        const interpreter = await openInterpreter(container, { language, graceMs: 300 });
        await use(interpreter, container);
      });

    test(`${language} keeps its variables, shows the last value, and reports errors without frames of its driver`, async () => {
      await withInterpreter({}, async (interpreter) => {
        assert.deepEqual(await runAll(interpreter, code.define), { output: [], outcome: done });
        assert.deepEqual((await runAll(interpreter, code.use)).output, [{ type: "result", text: "42" }]);
        const printed = (await runAll(interpreter, code.print)).output;
        assert.deepEqual(
          printed.toSorted((a, b) => (a.type > b.type ? -1 : 1)),
          [
            { type: "stdout", text: "out\n" },
            { type: "stderr", text: "err\n" },
          ],
        );
        const { outcome } = await runAll(interpreter, code.fail);
        assert.equal(outcome.type, "error");
        assert.match(outcome.type === "error" ? outcome.traceback : "", /bad/);
        assert.doesNotMatch(outcome.type === "error" ? outcome.traceback : "", /<string>|\[eval\]|node:/);
        assert.deepEqual((await runAll(interpreter, code.use)).output, [{ type: "result", text: "42" }]);
      });
    });

    test(`${language} survives an interrupt, a flood and garbage, and keeps its variables`, async () => {
      await withInterpreter({}, async (interpreter) => {
        await runAll(interpreter, code.define);
        const loop = await runAll(interpreter, code.loop, { timeoutMs: 300 });
        assert.deepEqual([loop.outcome.type, loop.outcome.isLost], ["timeout", false]);
        if (language === "python") {
          await runAll(interpreter, children.wait, { timeoutMs: 500 });
          assert.deepEqual((await runAll(interpreter, children.left)).outcome, done);
        }
        const flood = await runAll(interpreter, code.flood, { maxOutputBytes: 5000 });
        assert.deepEqual([flood.outcome.type, flood.outcome.isLost], ["output", false]);
        assert.equal(textIn(flood.output).length, 5000);
        assert.deepEqual((await runAll(interpreter, code.garbage)).outcome, done);
        const waiting = [
          interpreter.run(code.loop, { signal: AbortSignal.timeout(200) }),
          interpreter.run(code.use),
        ];
        assert.deepEqual(await waiting[0]?.outcome, { type: "cancelled", isLost: false });
        assert.deepEqual(await waiting[1]?.outcome, done);
        assert.equal(interpreter.isAlive, true);
      });
    });

    test(`${language} is lost with code that ignores interrupts or ends it, and says so afterwards`, async () => {
      await withContainer({}, async (container) => {
        const open = () => openInterpreter(container, { language, graceMs: 200 });
        const first = await open();
        const stubborn = await runAll(first, code.stubborn, { timeoutMs: 200 });
        assert.deepEqual([stubborn.outcome.type, stubborn.outcome.isLost], ["timeout", true]);
        assert.equal(first.isAlive, false);
        assert.equal((await runAll(first, code.use)).outcome.type, "lost");
        const second = await open();
        assert.equal((await runAll(second, code.die)).outcome.type, "lost");
      });
    });
  }
}

const done: CodeOutcome = { type: "done", isLost: false };

async function runAll(
  interpreter: Interpreter,
  code: string,
  options = {},
): Promise<{ output: CodeOutput[]; outcome: CodeOutcome }> {
  const call = interpreter.run(code, options);
  const output: CodeOutput[] = [];
  for await (const part of call) output.push(part);
  return { output, outcome: await call.outcome };
}

function textIn(output: readonly CodeOutput[]): string {
  return output.map((part) => ("text" in part ? part.text : "")).join("");
}
