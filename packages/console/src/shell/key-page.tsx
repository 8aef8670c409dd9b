// Asks for a key, where the server wants one.

import { useSignal } from "@preact/signals";
import { get, messageOf } from "../api/api.ts";
import { isRefused, keepKey } from "../api/key.ts";
import type { SystemState } from "../api/types.ts";
import icon from "../icon.svg";
import { Spinner } from "../ui/spinner.tsx";

export function KeyPage() {
  const text = useSignal("");
  const isTrying = useSignal(false);
  const problem = useSignal(
    isRefused.value ? "The key of this tab is no longer accepted. Enter another." : undefined,
  );
  const submit = async (event: Event) => {
    event.preventDefault();
    const value = text.value.trim();
    if (value === "" || isTrying.value) return;
    isTrying.value = true;
    problem.value = undefined;
    try {
      // Only these can be sent in a header.
      if (!/^[\x21-\x7e]+$/.test(value)) throw new Error("A key has no spaces and no special characters.");
      const { owner } = await get<SystemState>("v1/system", { key: value });
      keepKey(value, owner);
    } catch (error) {
      problem.value = messageOf(error);
    } finally {
      isTrying.value = false;
    }
  };
  return (
    <main class="key-page">
      <form class="card stack" onSubmit={submit}>
        <img src={icon} alt="" width="40" height="40" />
        <h1>This server wants a key</h1>
        <p class="soft">
          You see what belongs to your key: runs, chats and logs. It is kept for this tab only. The server's
          operator makes keys with <code>rondo key</code>.
        </p>
        <label class="field">
          <span>Key</span>
          <input
            class="input mono"
            type="password"
            autocomplete="off"
            autofocus
            aria-invalid={problem.value !== undefined}
            aria-describedby="key-problem"
            value={text}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <div id="key-problem" role="alert">
          {problem.value !== undefined && <p class="notice bad">{problem}</p>}
        </div>
        <button class="button primary" type="submit" disabled={text.value.trim() === "" || isTrying.value}>
          {isTrying.value && <Spinner />} Open
        </button>
      </form>
    </main>
  );
}
