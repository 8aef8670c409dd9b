// A Markdown text, also while it grows. What renders it is loaded when the first one is shown.

import { effect, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import "./markdown.css";
import { paced } from "./pace.ts";

export interface MarkdownProps {
  readonly text: ReadonlySignal<string>;
}

export function Markdown({ text }: MarkdownProps) {
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isLeft = false;
    let stop = () => {};
    const start = async () => {
      const { MarkdownView } = await import("./markdown-view.ts");
      if (isLeft || !root.current) return;
      const view = new MarkdownView(root.current);
      view.update(text.peek());
      const pace = paced(() => view.update(text.peek()));
      const unwatch = effect(() => {
        if (text.value !== "") pace.request();
      });
      stop = () => {
        unwatch();
        pace.stop();
      };
    };
    void start();
    return () => {
      isLeft = true;
      stop();
    };
  }, [text]);
  return <div class="markdown" ref={root} />;
}
