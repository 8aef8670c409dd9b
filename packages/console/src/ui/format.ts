// How times and numbers are written.

const number = new Intl.NumberFormat("en");
const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function formatNumber(value: number): string {
  return number.format(value);
}

/** 12.3 ms, 1.24 s, 3 min 20 s, 2 h 5 min */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${trim(ms.toFixed(1))} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trim((ms / 1_000).toFixed(2))} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${trim((bytes / 1_000).toFixed(1))} KB`;
  return `${trim((bytes / 1_000_000).toFixed(1))} MB`;
}

/** The time, with the date if it is not today. */
export function formatTime(atMs: number, nowMs = Date.now()): string {
  const isToday = new Date(atMs).toDateString() === new Date(nowMs).toDateString();
  return (isToday ? time : dateAndTime).format(atMs);
}

function trim(text: string): string {
  return text.replace(/\.?0+$/, "");
}
