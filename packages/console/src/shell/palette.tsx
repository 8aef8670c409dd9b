// The palette: Ctrl-K (or Cmd-K) finds pages, actions, chats and runs by their names.

import { signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../api/api.ts";
import type { Page, RunSummary } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { ModalDialog } from "../ui/modal-dialog.tsx";
import { commands } from "./commands.ts";
import type { PageEntry } from "./page-entry.ts";
import { groupsFor, type PaletteEntry } from "./palette-entries.ts";

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

/** After the last key, before the server is asked. */
const searchDelayMs = 120;
const runLimit = 8;

export interface PaletteProps {
  readonly pages: readonly PageEntry[];
  readonly onShortcuts: () => void;
}

export function Palette(props: PaletteProps) {
  return isOpen.value ? <OpenPalette {...props} /> : null;
}

function OpenPalette({ pages, onShortcuts }: PaletteProps) {
  const text = useSignal("");
  const active = useSignal(0);
  const runs = useRuns(text.value);
  const dialog = useRef<HTMLDialogElement>(null);
  const groups = useComputed(() =>
    groupsFor(text.value.trim(), {
      commands: commands.value,
      pages,
      runs: runs.value,
      help: [{ title: "Show the keys", icon: "keyboard", key: "?", run: onShortcuts }],
    }),
  );
  const entries = groups.value.flatMap((group) => group.entries);
  const index = Math.min(active.value, entries.length - 1);
  const current = entries[index];

  useEffect(() => {
    if (current) document.getElementById(optionId(current))?.scrollIntoView({ block: "nearest" });
  }, [current?.id]);

  // The dialog gives the focus back when it closes: before the entry may move it.
  const choose = (entry: PaletteEntry | undefined) => {
    if (!entry) return;
    dialog.current?.close();
    entry.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && entries.length > 0)
      active.value = (index + step + entries.length) % entries.length;
    else if (event.key === "Enter" && !event.isComposing) choose(current);
    else return;
    event.preventDefault();
  };

  return (
    <ModalDialog
      label="Search"
      look="palette"
      element={dialog}
      onClose={() => {
        isOpen.value = false;
      }}
    >
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Search pages, actions, chats and runs"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={current && optionId(current)}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search pages, actions, chats and runs"
        autofocus
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          active.value = 0;
        }}
        onKeyDown={pressed}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label="Results" tabIndex={-1}>
        {groups.value.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, not field sets.
          <div key={group.title} role="group" aria-label={group.title}>
            <div class="palette-title" aria-hidden="true">
              {group.title}
            </div>
            {group.entries.map((entry) => (
              // The input has the focus, and handles the keys.
              // biome-ignore lint/a11y/useKeyWithClickEvents: see above
              <div
                key={entry.id}
                id={optionId(entry)}
                class="palette-option"
                role="option"
                tabIndex={-1}
                aria-selected={entry === current}
                onClick={() => choose(entry)}
                onPointerMove={() => {
                  active.value = entries.indexOf(entry);
                }}
              >
                <Icon name={entry.icon} />
                <span class="grow one-line">{entry.title}</span>
                {entry.hint !== undefined && <span class="soft palette-hint">{entry.hint}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      {entries.length === 0 && (
        <p class="palette-none soft" role="status">
          Nothing fits. Runs are found by their first line or their id.
        </p>
      )}
      <p class="palette-foot soft" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open <kbd>Esc</kbd> close
      </p>
    </ModalDialog>
  );
}

function optionId({ id }: PaletteEntry): string {
  return `palette-${id}`;
}

/** The latest runs whose title contains the text. Empty while the server has not answered, or cannot. */
function useRuns(text: string) {
  const runs = useSignal<readonly RunSummary[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async () => {
      const query = new URLSearchParams({ limit: String(runLimit) });
      if (text.trim() !== "") query.set("search", text.trim());
      try {
        runs.value = (await get<Page<RunSummary>>(`v1/runs?${query}`, { signal: leaving.signal })).data;
      } catch {
        if (!leaving.signal.aborted) runs.value = [];
      }
    };
    const timer = setTimeout(load, text === "" ? 0 : searchDelayMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [text]);
  return runs;
}
