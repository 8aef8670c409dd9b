// Runs the code of one call, and says what came of it: to the model as text, to the client as outputs.

import { randomBytes } from "node:crypto";
import type { JsonValue } from "rondo";
import type { CodeOutcome, CodeOutput } from "rondo/sandbox";
import type { ToolResult } from "../executor.ts";
import { dataFolder, fileId } from "./container-files.ts";
import type { ContainerUse, SandboxTools } from "./containers.ts";

/** The largest images that a client gets as data; others it downloads. */
const maxImageBytes = 1_000_000;

export interface RunCodeParts {
  readonly use: ContainerUse;
  readonly tools: SandboxTools;
  /** What the model is told first. */
  readonly note: string | undefined;
  readonly signal: AbortSignal;
}

type Result = Omit<ToolResult, "callId">;

/** Never throws for what the code does. */
export async function runCode(code: string, { use, tools, note, signal }: RunCodeParts): Promise<Result> {
  const { interpreter, isNewAfterLoss } = await use.openInterpreter();
  const call = interpreter.run(code, { signal });
  const outputs: JsonValue[] = [];
  const texts = [note, isNewAfterLoss ? lostNote(note) : undefined].filter((it) => it !== undefined);
  let logs = "";
  const endLogs = () => {
    const plain = tools.plainText(logs);
    logs = "";
    if (plain === "") return;
    outputs.push({ type: "logs", logs: plain });
    texts.push(plain.replace(/\n$/, ""));
  };
  for await (const output of call) {
    if (output.type !== "image") {
      logs += output.type === "result" ? `${needsLine(logs)}${output.text}\n` : output.text;
      continue;
    }
    endLogs();
    const path = await saveImage(use, output);
    outputs.push({ type: "image", url: imageUrl(output, use.known.id, path) });
    texts.push(`(The figure was saved as ${dataFolder}/${path}.)`);
  }
  const outcome = await call.outcome;
  const problem = problemOf(outcome);
  if (problem !== undefined) logs += `${needsLine(logs)}${problem}`;
  endLogs();
  await use.notePaths().catch(() => {}); // only citations need them
  const text = texts.join("\n");
  return {
    output: text === "" ? "(The code printed nothing.)" : text,
    isError: outcome.type !== "done" && outcome.type !== "error",
    item: { outputs, container_id: use.known.id },
  };
}

function lostNote(note: string | undefined): string | undefined {
  if (note !== undefined) return undefined;
  return `(The interpreter was started anew: the variables of earlier calls are gone, the files in ${dataFolder} are still there.)`;
}

function needsLine(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}

/** What the model is told of an end that was not a good one. */
function problemOf(outcome: CodeOutcome): string | undefined {
  const lost = outcome.isLost ? " The interpreter ended with it: its variables are gone, files stay." : "";
  switch (outcome.type) {
    case "done":
      return undefined;
    case "error":
      return outcome.traceback || `${outcome.name}: ${outcome.message}`;
    case "cancelled":
      return `The code was cancelled.${lost}`;
    default:
      return `${outcome.message}${lost}`;
  }
}

type Image = Extract<CodeOutput, { type: "image" }>;

async function saveImage({ container }: ContainerUse, { bytes }: Image): Promise<string> {
  const path = `figure-${randomBytes(4).toString("hex")}.png`;
  await container.write(path, bytes);
  return path;
}

function imageUrl({ bytes, mediaType }: Image, containerId: string, path: string): string {
  if (bytes.length <= maxImageBytes)
    return `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
  return `/v1/containers/${containerId}/files/${fileId(containerId, path)}/content`;
}
