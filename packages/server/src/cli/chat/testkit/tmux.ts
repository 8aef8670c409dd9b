// A real terminal: a program in tmux, which draws a screen that can be read.
import { execFileSync, spawnSync } from "node:child_process";
import { onTestFinished, vi } from "vitest";
import { folderWith } from "../../../config/testkit/folder.ts";

/** Whether there is a tmux; it is a package of every system, but not of every machine. */
export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

export interface Tmux {
  /** A folder of its own. */
  readonly folder: string;
  /** Presses keys, as tmux names them: "Enter", "C-c", "Up". Other words are typed. */
  press(...keys: string[]): void;
  /** Pastes as a terminal does. */
  paste(text: string): void;
  /** What is on the screen, without the empty lines at its end. */
  screen(): string;
  /** The same, with its colours as escape codes. */
  colours(): string;
  /** Resolves when the screen fits, with what is on it. */
  sees(pattern: string | RegExp): Promise<string>;
}

let count = 0;

/**
 * Starts a program in a terminal of 80 × 24 for the length of a test. When it ends, the screen says
 * `left with CODE`, and what is then typed is echoed if the terminal was left as it was.
 */
export function startInTmux(command: readonly string[], env: Readonly<Record<string, string>> = {}): Tmux {
  const folder = folderWith();
  const socket = ["-L", `rondo-${process.pid}-${count++}`];
  const run = (...args: string[]) =>
    execFileSync("tmux", [...socket, ...args], {
      encoding: "utf8",
      // The socket too is the test's own.
      env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", TMUX_TMPDIR: folder.path },
    });
  onTestFinished(() => {
    run("kill-server");
    folder[Symbol.dispose]();
  });
  const settings = Object.entries({ XDG_STATE_HOME: folder.path, ...env }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const words = ["env", ...settings, ...command].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const script = `cd '${folder.path}' && ${words.join(" ")}; echo "left with $?"; exec cat`;
  run("-u", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", script);
  const capture = (...flags: string[]) => run("capture-pane", "-p", ...flags).trimEnd();
  return {
    folder: folder.path,
    press: (...keys) => void run("send-keys", ...keys),
    paste(text) {
      run("set-buffer", text);
      run("paste-buffer", "-p");
    },
    screen: () => capture(),
    colours: () => capture("-e"),
    sees: (pattern) =>
      vi.waitFor(
        () => {
          const screen = capture();
          const isThere = typeof pattern === "string" ? screen.includes(pattern) : pattern.test(screen);
          if (!isThere) throw new Error(`The screen does not show ${String(pattern)}:\n${screen}`);
          return screen;
        },
        // A Node has to start first, on a machine that may be busy.
        { timeout: 30_000, interval: 50 },
      ),
  };
}
