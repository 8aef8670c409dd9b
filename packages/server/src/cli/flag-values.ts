// Values of flags, checked by commander as they are read.

import { InvalidArgumentError } from "commander";

export function httpUrl(value: string): string {
  if (/^https?:$/.test(URL.parse(value)?.protocol ?? "")) return value;
  throw new InvalidArgumentError("Expected an http or https URL.");
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  return (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}

/** The flag that every command with a config has. */
export const configFlag = [
  "--config <file>",
  "The config file. Default: rondo.config.ts or rondo.yaml of this folder, if there is one.",
] as const;
