// The tail of the log: follows, can be filtered, and stays where one reads.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../api/api.ts";
import type { LogLine, LogTail as LogReply } from "../api/inspect-types.ts";
import { useLoaded } from "../api/load.ts";
import { useCommands } from "../shell/commands.ts";
import { linkTo, type Place, replacePlace } from "../shell/router.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import {
  type FollowedLog,
  fieldsText,
  type Level,
  type LogFilter,
  levels,
  readOn,
  shownLines,
} from "./log-lines.ts";

const everyMs = 1_500;
/** So near to the end counts as the end. */
const endPixels = 40;

const levelWords: Readonly<Record<Level, string>> = {
  debug: "All",
  info: "Info and above",
  warn: "Warnings and errors",
  error: "Errors",
};

export function LogTail({ place }: { readonly place: Place }) {
  const { lines, error } = useLines();
  const filter = filterOf(place);
  const shown = shownLines(lines, filter);
  const isFollowing = useSignal(true);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFollowing.value) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [shown.at(-1)?.n, shown.length, isFollowing.value]);
  useCommands([
    {
      title: isFollowing.value ? "Stop following the log" : "Follow the log",
      icon: "system",
      key: "f",
      run: () => {
        isFollowing.value = !isFollowing.value;
      },
    },
  ]);

  return (
    <section class="stack">
      <div class="row">
        <h2 class="grow">Log</h2>
        <input
          class="input log-search"
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          value={filter.search}
          onInput={(event) => setFilter({ ...filter, search: event.currentTarget.value })}
        />
        <select
          class="input log-level"
          aria-label="Level"
          value={filter.level}
          onChange={(event) => setFilter({ ...filter, level: event.currentTarget.value as Level })}
        >
          {levels.map((level) => (
            <option key={level} value={level}>
              {levelWords[level]}
            </option>
          ))}
        </select>
        <label class="row">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={(event) => {
              isFollowing.value = event.currentTarget.checked;
            }}
          />
          Follow
        </label>
      </div>
      {error && lines.length === 0 && (
        <ErrorNotice title="The log cannot be loaded." message={error.message} />
      )}
      <div
        class="log"
        ref={list}
        role="log"
        aria-label="Lines of the log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isFollowing.value = scrollHeight - scrollTop - clientHeight < endPixels;
        }}
      >
        {shown.map((line) => (
          <LogRow key={line.n} line={line} />
        ))}
        {shown.length === 0 && (
          <p class="soft">{lines.length === 0 ? "Nothing was logged yet." : "No line fits the filter."}</p>
        )}
      </div>
    </section>
  );
}

function LogRow({ line }: { readonly line: LogLine }) {
  return (
    <div class={`log-line ${line.level}`}>
      <span class="soft number">{clock(line.time)}</span>
      <span class="log-level-name">{line.level}</span>
      <span class="log-text">
        {line.message} <span class="soft">{fieldsText(line)}</span>
      </span>
    </div>
  );
}

function clock(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toTimeString().slice(0, 8);
}

function filterOf({ query }: Place): LogFilter {
  const level = query.get("level") as Level;
  return { level: levels.includes(level) ? level : "debug", search: query.get("search") ?? "" };
}

// In the address, so that a reload keeps it.
function setFilter({ level, search }: LogFilter): void {
  replacePlace(
    linkTo("system", [], { ...(level !== "debug" && { level }), ...(search !== "" && { search }) }),
  );
}

/** The lines so far. Only new ones are loaded. */
function useLines() {
  const known = useRef<FollowedLog | undefined>(undefined);
  const { value, error } = useLoaded(
    async (signal) => {
      known.current = await readOn(known.current, (after) => {
        const query = new URLSearchParams({ limit: "1000" });
        if (after !== undefined) query.set("after", String(after));
        return get<LogReply>(`v1/system/log?${query}`, { signal });
      });
      return known.current.lines;
    },
    [],
    { everyMs },
  );
  return { lines: value.value ?? [], error: error.value };
}
