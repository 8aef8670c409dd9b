// Parses a regular expression into a tree. The syntax is JavaScript's with the flag `u`, checked by `RegExp`; single
// characters are matched by `RegExp` too, so that both always agree.

export type PatternNode =
  | { readonly kind: "char"; readonly fits: CharTest }
  | { readonly kind: "sequence"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly nodes: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "edge"; readonly edge: "start" | "end" | "word" | "inside" }
  | { readonly kind: "look"; readonly node: PatternNode; readonly isAhead: boolean; readonly isNot: boolean };

/** Whether a code point fits. */
export type CharTest = (codePoint: number) => boolean;

/** Deeper than any pattern that people write. */
const maxDepth = 100;

export function parsePattern(source: string): PatternNode {
  checkSyntax(source);
  return new PatternReader(source).choice(0);
}

/** The `\p{…}` that `RegExp` knows. There are a few thousand in all. */
const knownProperties = new Set<string>();

/**
 * Throws for what is not a pattern. `\p{…}` takes `RegExp` as long as hundreds of other characters, so each is tried
 * once; `\d` may stand wherever it may.
 */
function checkSyntax(source: string): void {
  const plain = source.replace(/\\(?:[pP]\{[^}]*\}|.)/gs, (sequence) => {
    if (sequence.length === 2) return sequence;
    if (!knownProperties.has(sequence)) RegExp(sequence, "u");
    knownProperties.add(sequence);
    return "\\d";
  });
  RegExp(plain, "u");
}

class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(depth: number): PatternNode {
    if (depth > maxDepth) throw new Error(`The pattern is nested more than ${maxDepth} levels deep.`);
    const nodes = [this.#sequence(depth)];
    while (this.#take("|")) nodes.push(this.#sequence(depth));
    return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: "choice", nodes };
  }

  #sequence(depth: number): PatternNode {
    const nodes: PatternNode[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#source.charAt(this.#at)))
      nodes.push(this.#repeated(this.#term(depth)));
    return { kind: "sequence", nodes };
  }

  #term(depth: number): PatternNode {
    if (this.#take("^")) return { kind: "edge", edge: "start" };
    if (this.#take("$")) return { kind: "edge", edge: "end" };
    if (this.#take("\\b")) return { kind: "edge", edge: "word" };
    if (this.#take("\\B")) return { kind: "edge", edge: "inside" };
    return this.#take("(") ? this.#group(depth) : this.#char();
  }

  #group(depth: number): PatternNode {
    const look = this.#match(/\?(<?)([=!])/y);
    if (!look && !this.#match(/\?:|\?<[^>]*>/y) && this.#source[this.#at] === "?")
      throw new Error("Groups with flags, such as (?i:…), are not supported in a pattern.");
    const node = this.choice(depth + 1);
    this.#take(")");
    return look ? { kind: "look", node, isAhead: look[1] === "", isNot: look[2] === "!" } : node;
  }

  #repeated(node: PatternNode): PatternNode {
    const [, sign, low, comma, high] = this.#match(/(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y) ?? [];
    if (sign === undefined && low === undefined) return node;
    const min = low === undefined ? Number(sign === "+") : Number(low);
    if (sign === "?") return { kind: "repeat", node, min, max: 1 };
    if (high) return { kind: "repeat", node, min, max: Number(high) };
    return {
      kind: "repeat",
      node,
      min,
      max: low !== undefined && comma === "" ? min : Number.POSITIVE_INFINITY,
    };
  }

  #char(): PatternNode {
    const [text = ""] =
      this.#match(/\[(?:[^\]\\]|\\.)*\]/suy) ??
      this.#match(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|x..|c.|.)/suy) ??
      this.#match(/./suy) ??
      [];
    if (/^\\[1-9k]/.test(text))
      throw new Error("Backreferences, such as \\1, are not supported in a pattern.");
    const isLiteral = text !== "." && !/^[[\\]/.test(text);
    return { kind: "char", fits: isLiteral ? literal(text) : charClass(text) };
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#source);
    if (found) this.#at = sticky.lastIndex;
    return found;
  }
}

function literal(text: string): CharTest {
  const wanted = text.codePointAt(0);
  return (codePoint) => codePoint === wanted;
}

/** Matching one character takes `RegExp` constant time; the results for ASCII are cached. */
function charClass(source: string): CharTest {
  let native: RegExp | undefined;
  const known: (boolean | undefined)[] = [];
  const test = (codePoint: number) => {
    native ??= new RegExp(`^(?:${source})$`, "u");
    return native.test(String.fromCodePoint(codePoint));
  };
  return (codePoint) => {
    if (codePoint > 127) return test(codePoint);
    known[codePoint] ??= test(codePoint);
    return known[codePoint];
  };
}
