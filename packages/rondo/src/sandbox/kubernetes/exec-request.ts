// A request of exec as a job of the agent.

import { requireType, requireValue } from "../../error/check.ts";
import { namesInContainer } from "../container-path.ts";
import type { ExecRequest, SandboxLimits } from "../sandbox.ts";

const workFolder = "/mnt/data";

/** What all programs find. Nothing of the pod's own environment is passed on. */
const baseEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

/** The longest job that is sent: it is a part of a URL. */
const maxJobBytes = 96 * 1024;

export function checkedRequest(request: ExecRequest, limits: SandboxLimits): object {
  const { command, cwd, env = {} } = request;
  requireType(
    Array.isArray(command) && command.length > 0,
    "command",
    "a program and its arguments",
    command,
  );
  for (const [index, argument] of command.entries()) checkText(`command[${index}]`, argument);
  for (const [name, value] of Object.entries(env)) {
    requireValue(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), "env", "names of letters, digits and '_'", name);
    checkText(`env.${name}`, value);
  }
  const timeoutMs = request.timeoutMs ?? limits.timeoutMs;
  const job = {
    do: "run",
    command,
    cwd: folderOf(cwd),
    env: { ...baseEnvironment, ...env },
    limits: {
      ...limits,
      timeoutMs: Number.isFinite(timeoutMs) ? timeoutMs : 0,
      isCpuFixed: Number.isFinite(timeoutMs),
    },
  };
  const bytes = Buffer.byteLength(JSON.stringify(job));
  requireValue(
    bytes <= maxJobBytes,
    "command",
    `at most ${maxJobBytes} bytes with its variables`,
    `${bytes} bytes`,
    "Write long programs to a file.",
  );
  return job;
}

function folderOf(cwd: string | undefined): string {
  if (cwd === undefined || ["", ".", "./", workFolder, `${workFolder}/`].includes(cwd)) return workFolder;
  return `${workFolder}/${namesInContainer(cwd).join("/")}`;
}

function checkText(field: string, value: unknown): void {
  requireType(typeof value === "string", field, "a string", value);
  requireValue(!value.includes("\0"), field, "a string without zero bytes", value);
}
