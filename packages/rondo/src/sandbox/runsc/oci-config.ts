// The bundle of one process for runsc, from the same description of a container that bwrap gets: its arguments.

import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Mount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options?: readonly string[];
}

/** How many values follow each argument that the tiers of this machine use. */
const argumentCounts: Readonly<Record<string, number>> = {
  "--ro-bind": 2,
  "--bind": 2,
  "--symlink": 2,
  "--setenv": 2,
  "--proc": 1,
  "--dev": 1,
  "--tmpfs": 1,
  "--remount-ro": 1,
  "--chdir": 1,
  "--uid": 1,
  "--gid": 1,
  "--hostname": 1,
  "--cap-drop": 1,
};

export interface BundleOptions {
  /** An empty folder. */
  readonly folder: string;
  readonly options: readonly string[];
  readonly command: readonly string[];
  readonly user: number;
}

/** Writes `config.json` and the root with the places of its mounts. */
export function writeBundle({ folder, options, command, user }: BundleOptions): void {
  const root = join(folder, "rootfs");
  mkdirSync(root);
  const mounts: Mount[] = [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/dev", type: "tmpfs", source: "tmpfs" },
  ];
  const env: string[] = [];
  let cwd = "/";
  for (const [name, first = "", second = ""] of groups(options)) {
    if (name === "--symlink") symlinkSync(first, join(root, second));
    else if (name === "--setenv") env.push(`${first}=${second}`);
    else if (name === "--chdir") cwd = first;
    // The kernel of the sandbox makes its own /proc and /dev, without anything of this machine.
    else if (/^--(ro-)?bind$/.test(name) && !second.startsWith("/proc/")) {
      const mode = name === "--bind" ? "rw" : "ro";
      makePlace(join(root, second), first);
      mounts.push({ destination: second, type: "bind", source: first, options: [mode, "rbind"] });
    }
  }
  const none: readonly string[] = [];
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({
      ociVersion: "1.0.0",
      process: {
        terminal: false,
        user: { uid: user, gid: user },
        args: command,
        env,
        cwd,
        capabilities: { bounding: none, effective: none, inheritable: none, permitted: none, ambient: none },
        noNewPrivileges: true,
      },
      root: { path: "rootfs", readonly: true },
      hostname: "sandbox",
      mounts,
      linux: { namespaces: ["pid", "network", "ipc", "uts", "mount"].map((type) => ({ type })) },
    }),
  );
}

function* groups(options: readonly string[]): Generator<readonly [name: string, ...values: string[]]> {
  for (let at = 0; at < options.length; ) {
    const name = options[at] as string;
    const count = argumentCounts[name] ?? 0;
    yield [name, ...options.slice(at + 1, at + 1 + count)];
    at += 1 + count;
  }
}

/** Something to mount over: a folder, or a file. */
function makePlace(path: string, source: string): void {
  if (statSync(source).isDirectory()) mkdirSync(path, { recursive: true });
  else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "", { flag: "a" });
  }
}
