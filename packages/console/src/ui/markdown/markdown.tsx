// A Markdown text, also while it grows. What renders it is loaded when the first one is shown, and a text that is far
// away is rendered when it comes near.

import { effect, type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatNumber } from "../format.ts";
import "./markdown.css";
import type { MarkdownView } from "./markdown-view.ts";
import { whenNear } from "./near.ts";
import { paced } from "./pace.ts";

export interface MarkdownProps {
  readonly text: ReadonlySignal<string>;
  /** Whether it is plain text until it is nearly in view. Default: false. */
  readonly isLazy?: boolean;
}

export function Markdown({ text, isLazy = false }: MarkdownProps) {
  const isNear = useSignal(!isLazy);
  const plain = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      plain.current
        ? whenNear(plain.current, () => {
            isNear.value = true;
          })
        : undefined,
    [],
  );
  if (isNear.value) return <RenderedText text={text} />;
  return (
    <div class="markdown is-plain" ref={plain}>
      {text.value.slice(0, partChars)}
    </div>
  );
}

/** A text that is longer when it is opened is shown in parts: a megabyte takes a browser many seconds. */
const partChars = 100_000;

type View = new (root: HTMLElement) => MarkdownView;
let loadedView: View | undefined;

async function loadView(): Promise<View> {
  loadedView ??= (await import("./markdown-view.ts")).MarkdownView;
  return loadedView;
}

function RenderedText({ text }: Pick<MarkdownProps, "text">) {
  const root = useRef<HTMLDivElement>(null);
  const opened = useMemo(() => text.peek().length, [text]);
  const shown = useSignal(partChars);
  // What comes while it is looked at is shown.
  const isCut = opened > shown.value;
  const end = isCut ? lineEnd(text.value, shown.value) : undefined;
  useLayoutEffect(() => {
    let isLeft = false;
    let stop = () => {};
    const start = (MarkdownView: View) => {
      if (isLeft || !root.current) return;
      const view = new MarkdownView(root.current);
      const wanted = () => {
        const whole = text.peek();
        return opened > shown.peek() ? whole.slice(0, lineEnd(whole, shown.peek())) : whole;
      };
      view.update(wanted());
      const pace = paced(() => view.update(wanted()));
      const unwatch = effect(() => {
        void shown.value;
        if (text.value !== "") pace.request(text.value.length);
      });
      stop = () => {
        unwatch();
        pace.stop();
      };
    };
    if (loadedView) start(loadedView);
    else void loadView().then(start);
    return () => {
      isLeft = true;
      stop();
    };
  }, [text]);
  return (
    <>
      <div class="markdown" ref={root} />
      {end !== undefined && (
        <p class="row soft markdown-rest">
          {`The first ${formatNumber(end)} of ${formatNumber(text.value.length)} characters.`}
          <button
            class="button"
            type="button"
            onClick={() => {
              shown.value += 2 * partChars;
            }}
          >
            Show more
          </button>
        </p>
      )}
    </>
  );
}

/** The end of a line near so many characters, so that no block is cut in the middle of a word. */
function lineEnd(text: string, chars: number): number {
  const end = text.lastIndexOf("\n", chars) + 1;
  return end > chars / 2 ? end : chars;
}
