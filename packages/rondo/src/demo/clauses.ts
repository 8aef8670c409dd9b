// Cuts a prompt into its questions, and knows which of them goes on from the one before.

export interface Clause {
  readonly text: string;
  /** Whether it comes after the one before and may use its result: "…, then multiply it by 10". */
  readonly isNext: boolean;
}

const openings =
  "what|what's|how|who|where|when|which|add|subtract|multiply|divide|say|echo|repeat|search|find|look|tell|give|show|use|call";
const quotes = /"[^"\n]*"|“[^”\n]*”|`[^`\n]*`/g;
const ends = new RegExp(
  `[?!;\\n]+|[.:](?= |\\n|$)|(?:^|,? )(?:and )?(?:then|after that)\\b,?|,? and (?=(?:${openings})\\b)`,
  "gi",
);

export function clausesOf(prompt: string): Clause[] {
  const text = prompt.replaceAll(/[^\S\n]+/g, " ").trim();
  const quoted = Array.from(
    text.matchAll(quotes),
    ({ index, 0: { length } }) => [index, index + length] as const,
  );
  const clauses: Clause[] = [];
  let start = 0;
  let isNext = false;
  const close = (end: number) => {
    const clause = text.slice(start, end).trim();
    if (clause === "") return;
    clauses.push({ text: clause, isNext: isNext && clauses.length > 0 });
    isNext = false;
  };
  for (const { index, 0: found } of text.matchAll(ends)) {
    if (quoted.some(([from, to]) => index >= from && index < to)) continue;
    close(index);
    start = index + found.length;
    isNext ||= /then|after that/i.test(found);
  }
  close(text.length);
  return clauses;
}
