// What the console adds to rendered Markdown: a button that copies a block of code, and room for wide tables.

import { copyText } from "../clipboard.ts";

const shownMs = 1_500;
/** A paragraph that is longer has no kerning: with it, lines of a single long word take seconds to lay out. */
const longChars = 4_000;

export function decorate(fragment: DocumentFragment): void {
  for (const pre of fragment.querySelectorAll("pre")) {
    const head = element("div", "code-head");
    head.append(element("span", "", pre.dataset["language"] ?? ""), copyButton(pre));
    wrap(pre, "code-block").prepend(head);
    pre.tabIndex = 0; // so that the keyboard can scroll it
  }
  for (const text of fragment.querySelectorAll("p"))
    if ((text.textContent ?? "").length > longChars) text.dataset["long"] = "";
  for (const table of fragment.querySelectorAll("table")) wrap(table, "wide-table").tabIndex = 0;
}

function wrap(inner: HTMLElement, name: string): HTMLElement {
  const outer = element("div", name);
  inner.replaceWith(outer);
  outer.append(inner);
  return outer;
}

function copyButton(pre: HTMLElement): HTMLElement {
  const button = element("button", "button quiet", "Copy");
  button.setAttribute("type", "button");
  button.setAttribute("aria-live", "polite");
  const say = (words: string) => {
    button.textContent = words;
    setTimeout(() => {
      button.textContent = "Copy";
    }, shownMs);
  };
  button.addEventListener("click", () => {
    copyText(pre.textContent ?? "").then(
      () => say("Copied"),
      () => say("Could not copy"),
    );
  });
  return button;
}

function element(name: string, className: string, text = ""): HTMLElement {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
