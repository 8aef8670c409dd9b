// The only place where text of a model becomes markup. What it may become is this list, and nothing else.

import DOMPurify, { type Config } from "dompurify";

const tags =
  "p br hr h1 h2 h3 h4 h5 h6 blockquote ul ol li strong em del code pre a table thead tbody tr th td";

const config: Config = {
  ALLOWED_TAGS: tags.split(" "),
  ALLOWED_ATTR: ["href", "start", "align", "data-language"],
  // Of the others, the values are not links.
  ADD_URI_SAFE_ATTR: ["start", "align", "data-language"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // No relative ones either: they would lead to places of this page.
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  RETURN_DOM_FRAGMENT: true,
};

const purify = DOMPurify();

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A" || !node.hasAttribute("href")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** The markup as nodes, without anything that is not on the list. */
export function sanitize(html: string): DocumentFragment {
  return purify.sanitize(html, config) as unknown as DocumentFragment;
}
