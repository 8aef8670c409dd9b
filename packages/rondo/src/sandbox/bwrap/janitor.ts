// The janitor: a shell that waits for the end of this process, however it comes, and removes what it left behind.

import { type ChildProcess, spawn } from "node:child_process";

/** Ends the processes of groups and removes the folders, for up to 10 seconds. Arguments: groups, `--`, folders. */
const script = `
while read -r line; do :; done
if [ "$line" != done ]; then
  # bwrap may have been killed before it let its child go on. That waits for ever, with the filter still open.
  sleep 0.1
  for base in "$@"; do
    find /proc/[0-9]*/fd -lname "*/\${base##*/}/filter.bpf*" | while IFS=/ read -r _ _ pid _; do kill -9 "$pid"; done
  done
fi
tries=0
while [ $tries -lt 200 ]; do
  left=
  isGroup=1
  for base in "$@"; do
    if [ "$base" = -- ]; then isGroup=; continue; fi
    [ -d "$base" ] || continue
    if [ -n "$isGroup" ]; then
      for folder in "$base"/*/ "$base/"; do
        [ -f "$folder/cgroup.procs" ] || continue
        while read -r pid; do kill -9 "$pid"; done < "$folder/cgroup.procs"
        rmdir "$folder"
      done
    else
      rm -rf "$base" || { chmod -R u+rwX "$base"; rm -rf "$base"; }
    fi
    [ -d "$base" ] && left=1
  done
  [ -z "$left" ] && exit 0
  sleep 0.05
  tries=$((tries + 1))
done
exit 1
`;

export class Janitor {
  readonly #shell: ChildProcess;

  constructor(groups: readonly string[], folders: readonly string[]) {
    // Detached, so that Ctrl+C in the terminal of the server does not end it before its work.
    this.#shell = spawn("/bin/sh", ["-c", script, "rondo-janitor", ...groups, "--", ...folders], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#shell.on("error", () => {});
    this.#shell.stdin?.on("error", () => {});
    this.#shell.unref();
    (this.#shell.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  }

  /** Lets it do its work now. Resolves when that is done. */
  async finish(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.pid === undefined) return;
    this.#shell.ref();
    await new Promise<void>((resolve) => {
      this.#shell.once("exit", () => resolve());
      this.#shell.stdin?.end("done");
    });
  }
}
