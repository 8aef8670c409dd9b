// Asks for a key, where the server wants one.

import { useSignal } from "@preact/signals";
import { get, messageOf } from "../api/api.ts";
import { key, setKey } from "../api/key.ts";

export function KeyPage() {
  const text = useSignal("");
  const problem = useSignal<string | undefined>(undefined);
  const submit = async (event: Event) => {
    event.preventDefault();
    const value = text.value.trim();
    if (value === "") return;
    setKey(value);
    try {
      await get("v1/models");
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  return (
    <main class="page empty">
      <h1>This server wants a key</h1>
      <p>
        It is kept for this tab only, and sent with each request. The server's operator makes keys with{" "}
        <code>rondo key</code>.
      </p>
      <form class="row" onSubmit={submit}>
        <label class="field">
          <span>Key</span>
          <input
            class="input mono"
            type="password"
            autocomplete="off"
            autofocus
            value={text}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <button class="button primary" type="submit" disabled={text.value.trim() === ""}>
          Open
        </button>
      </form>
      <div role="alert">
        {problem.value !== undefined && key.value === null && <p class="notice bad">{problem}</p>}
      </div>
    </main>
  );
}
