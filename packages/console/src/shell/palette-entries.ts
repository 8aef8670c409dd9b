// What the palette offers for a text.

import type { RunSummary } from "../api/types.ts";
import type { IconName } from "../ui/icon.tsx";
import type { Command } from "./commands.ts";
import type { PageEntry } from "./page-entry.ts";
import { goTo, linkTo } from "./router.ts";

export interface PaletteEntry {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** Shown at the end of the line: a key, or a state. */
  readonly hint?: string | undefined;
  run(): void;
}

export interface PaletteGroup {
  readonly title: string;
  readonly entries: readonly PaletteEntry[];
}

export interface PaletteSources {
  readonly commands: readonly Command[];
  readonly pages: readonly PageEntry[];
  /** Those that the server found for the same text. */
  readonly runs: readonly RunSummary[];
  readonly help: readonly Command[];
}

/** The groups that have something to offer for the text. */
export function groupsFor(text: string, { commands, pages, runs, help }: PaletteSources): PaletteGroup[] {
  const words = text.toLowerCase().split(/\s+/);
  const fits = ({ title }: { readonly title: string }) =>
    words.every((word) => title.toLowerCase().includes(word));
  const groups: PaletteGroup[] = [
    { title: "Actions", entries: [...commands, newChat].filter(fits).map(entryOfCommand) },
    {
      title: "Pages",
      entries: pages.filter(fits).map(({ path, title, icon }) => ({
        id: `page-${path}`,
        title,
        icon,
        hint: `G ${keyOfPage(title).toUpperCase()}`,
        run: () => goTo(linkTo(path)),
      })),
    },
    { title: "Chats", entries: chatsOf(runs).map((run) => entryOfRun(run, "chat", run.thread_id)) },
    { title: "Runs", entries: runs.map((run) => entryOfRun(run, "runs", run.id)) },
    { title: "Help", entries: help.filter(fits).map(entryOfCommand) },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}

const newChat: Command = { title: "Start a chat", icon: "plus", run: () => goTo(linkTo("chat")) };

/** The key that goes to a page, after `g`: the titles begin with different letters. */
export function keyOfPage(title: string): string {
  return title.slice(0, 1).toLowerCase();
}

function entryOfCommand(command: Command): PaletteEntry {
  return {
    id: `action-${command.title.replaceAll(/\W+/g, "-")}`,
    title: command.title,
    icon: command.icon ?? "send",
    hint: command.key?.toUpperCase(),
    run: () => command.run(),
  };
}

/** One run for each chat of this console: several may be of one. */
function chatsOf(runs: readonly RunSummary[]): RunSummary[] {
  const chats = runs.filter(({ source }) => source === "console" || source?.startsWith("console/"));
  return [...new Map(chats.map((run) => [run.thread_id, run])).values()];
}

function entryOfRun({ id, title, status }: RunSummary, page: "chat" | "runs", link: string): PaletteEntry {
  return {
    id: `${page}-${id}`,
    title: title.trim() === "" ? id : title,
    icon: page,
    hint: status === "completed" ? undefined : status.replaceAll("_", " "),
    run: () => goTo(linkTo(page, [link])),
  };
}
