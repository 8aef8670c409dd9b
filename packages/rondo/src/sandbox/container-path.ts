// Paths that callers give for files in a container.

import { requireType } from "../error/check.ts";
import { InvalidPathError } from "./sandbox-errors.ts";

const workFolder = "/mnt/data";
const maxPathLength = 1024;
const maxNameBytes = 255;
const maxNames = 50;

/**
 * The names of a path below `/mnt/data`, from the outside in. Throws for anything that leaves it, or that no file
 * there could be called. Links must be refused by whoever opens it.
 */
export function namesInContainer(path: string): string[] {
  requireType(typeof path === "string", "path", "a string", path);
  if (path.length > maxPathLength)
    throw new InvalidPathError(path, `is longer than ${maxPathLength} characters`);
  let inside = path;
  if (path.startsWith("/")) {
    if (!path.startsWith(`${workFolder}/`)) throw new InvalidPathError(path, `is outside ${workFolder}`);
    inside = path.slice(workFolder.length + 1);
  }
  const names = inside.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0) throw new InvalidPathError(path, "names no file");
  if (names.length > maxNames) throw new InvalidPathError(path, `has more than ${maxNames} parts`);
  for (const name of names) {
    if (name === "..") throw new InvalidPathError(path, "has '..' in it");
    if (hasControlCharacter(name)) throw new InvalidPathError(path, "has control characters in it");
    if (!name.isWellFormed()) throw new InvalidPathError(path, "is not valid Unicode");
    if (Buffer.byteLength(name) > maxNameBytes)
      throw new InvalidPathError(path, `has a name of more than ${maxNameBytes} bytes`);
  }
  return names;
}

function hasControlCharacter(name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}
