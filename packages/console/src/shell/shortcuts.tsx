// The list of keys, shown by `?`.

import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ModalDialog } from "../ui/modal-dialog.tsx";
import { commands } from "./commands.ts";
import type { PageEntry } from "./page-entry.ts";
import { keyOfPage } from "./palette-entries.ts";

const isOpen = signal(false);

export function openShortcuts(): void {
  isOpen.value = true;
}

interface ShortcutsProps {
  readonly pages: readonly PageEntry[];
}

export function Shortcuts(props: ShortcutsProps) {
  return isOpen.value ? <OpenShortcuts {...props} /> : null;
}

function OpenShortcuts({ pages }: ShortcutsProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const everywhere: readonly KeyRow[] = [
    { keys: ["Ctrl", "K"], title: "Search pages, actions, chats and runs" },
    { keys: ["?"], title: "Show this list" },
    { keys: ["Esc"], title: "Close what is open" },
    ...pages.map(({ title }) => ({ keys: ["G", keyOfPage(title).toUpperCase()], title: `Go to ${title}` })),
  ];
  const here = commands.value.flatMap(({ key, title }) =>
    key === undefined ? [] : [{ keys: [key], title }],
  );
  return (
    <ModalDialog
      label="Keys"
      look="shortcuts"
      element={dialog}
      onClose={() => {
        isOpen.value = false;
      }}
    >
      <div class="row">
        <h2 class="grow">Keys</h2>
        <button class="button" type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {here.length > 0 && <KeyList title="On this page" rows={here} />}
      <KeyList title="Everywhere" rows={everywhere} />
    </ModalDialog>
  );
}

interface KeyRow {
  readonly keys: readonly string[];
  readonly title: string;
}

function KeyList({ title, rows }: { readonly title: string; readonly rows: readonly KeyRow[] }) {
  return (
    <section class="stack">
      <h3 class="soft">{title}</h3>
      <dl class="key-list">
        {rows.map((row) => (
          <div key={row.title}>
            <dt>
              {row.keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{row.title}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
