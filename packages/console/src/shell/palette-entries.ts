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
    { title: "Actions", entries: commands.filter(fits).map(entryOfCommand) },
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
    { title: "Chats", entries: runs.filter(isChat).map((run) => entryOfRun(run, "chat")) },
    { title: "Runs", entries: runs.filter((run) => !isChat(run)).map((run) => entryOfRun(run, "runs")) },
    { title: "Help", entries: help.filter(fits).map(entryOfCommand) },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}

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

function isChat({ source }: RunSummary): boolean {
  return source === "console";
}

function entryOfRun({ id, title, status }: RunSummary, page: "chat" | "runs"): PaletteEntry {
  return {
    id: `run-${id}`,
    title: title.trim() === "" ? id : title,
    icon: page,
    hint: status === "completed" ? undefined : status.replaceAll("_", " "),
    run: () => goTo(linkTo(page, [id])),
  };
}
