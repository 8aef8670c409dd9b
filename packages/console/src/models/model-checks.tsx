// The checks of `rondo doctor`, one by one. Each asks the model, so a person starts them.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isAbort, messageOf, post } from "../api/api.ts";
import type { CheckResult } from "../api/inspect-types.ts";
import { useCommands } from "../shell/commands.ts";
import { formatDuration } from "../ui/format.ts";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";

const checks = [
  { name: "answer", title: "Answers", about: "One request, with its answer in one piece." },
  { name: "stream", title: "Streams", about: "The answer comes piece by piece." },
  { name: "tool", title: "Calls a tool", about: "It calls a tool, and uses the result." },
] as const;

type CheckName = (typeof checks)[number]["name"];

export function ModelChecks({ model }: { readonly model: string }) {
  const results = useSignal<ReadonlyMap<CheckName, CheckResult>>(new Map());
  const running = useSignal<CheckName | undefined>(undefined);
  const leaving = useSignal(new AbortController());
  useEffect(() => () => leaving.peek().abort(), []);

  const run = async (names: readonly CheckName[]) => {
    if (running.value) return;
    const { signal } = leaving.value;
    const left = new Map(results.value);
    for (const name of names) left.delete(name);
    results.value = left;
    try {
      for (const name of names) {
        running.value = name;
        results.value = new Map(results.value).set(name, await check(model, name, signal));
      }
    } catch (error) {
      if (!isAbort(error)) throw error;
      leaving.value = new AbortController();
    } finally {
      running.value = undefined;
    }
  };
  const runAll = () => run(checks.map(({ name }) => name));
  useCommands([{ title: `Check ${model}`, icon: "play", run: () => void runAll() }]);

  return (
    <div class="card stack">
      <div class="row">
        <button class="button primary" type="button" disabled={running.value !== undefined} onClick={runAll}>
          <Icon name="play" /> Run all checks
        </button>
        {running.value && (
          <button class="button" type="button" onClick={() => leaving.value.abort()}>
            Stop
          </button>
        )}
      </div>
      <ul class="checks" aria-live="polite">
        {checks.map(({ name, title, about }) => (
          <li key={name}>
            <button
              class="button"
              type="button"
              disabled={running.value !== undefined}
              onClick={() => run([name])}
            >
              {title}
            </button>
            <CheckState result={results.value.get(name)} isRunning={running.value === name} about={about} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface CheckStateProps {
  readonly result: CheckResult | undefined;
  readonly isRunning: boolean;
  readonly about: string;
}

function CheckState({ result, isRunning, about }: CheckStateProps) {
  if (isRunning)
    return (
      <span class="row">
        <Spinner /> Asking the model …
      </span>
    );
  if (!result) return <span class="soft">{about}</span>;
  const [look, words] = looks[result.status];
  return (
    <span class="check-result">
      <span class={`badge ${look}`}>{words}</span>
      <span class="soft number">{formatDuration(result.ms)}</span>
      <span class="check-detail">{result.detail}</span>
    </span>
  );
}

const looks: Readonly<Record<CheckResult["status"], readonly [look: string, words: string]>> = {
  ok: ["good", "Works"],
  warning: ["warn", "Works, but"],
  failed: ["bad", "Fails"],
  skipped: ["", "Skipped"],
};

/** A check that cannot be made has failed, with the reason. */
async function check(model: string, name: CheckName, signal: AbortSignal): Promise<CheckResult> {
  const startedAtMs = performance.now();
  try {
    const { data } = await post<{ data: readonly CheckResult[] }>(
      "v1/system/models/check",
      { model, check: name },
      { signal },
    );
    const [result] = data;
    if (result) return result;
    return failed("The server made no such check.", startedAtMs);
  } catch (error) {
    if (isAbort(error)) throw error;
    return failed(messageOf(error), startedAtMs);
  }
}

function failed(detail: string, startedAtMs: number): CheckResult {
  return { status: "failed", detail, ms: performance.now() - startedAtMs };
}
