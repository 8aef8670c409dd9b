// A terminal without a screen: keys are pressed by calls, and what is drawn is kept by the test's io.
import { PassThrough } from "node:stream";
import type { InputStream } from "../../cli-io.ts";

export interface FakeTerminal {
  readonly input: InputStream;
  readonly isRaw: boolean;
  press(keys: string): void;
  hangUp(): void;
}

export const keys = {
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlU: "\u0015",
  up: "\u001b[A",
  altEnter: "\u001b\r",
  paste: (text: string) => `\u001b[200~${text}\u001b[201~`,
};

export function fakeTerminal(): FakeTerminal {
  const stream = new PassThrough();
  let isRaw = false;
  const input: InputStream = Object.assign(stream, {
    isTTY: true,
    setRawMode: (value: boolean) => {
      isRaw = value;
    },
  });
  return {
    input,
    get isRaw() {
      return isRaw;
    },
    press: (text) => void stream.write(text),
    hangUp: () => void stream.end(),
  };
}
