// Finds the row of the table of routes that answers a request.

export type PathParams = Readonly<Record<string, string>>;

interface Row<T> {
  readonly method: string;
  readonly parts: readonly Part[];
  readonly value: T;
}

/** A segment of a pattern: a parameter, or a text. */
interface Part {
  readonly text: string;
  readonly name?: string | undefined;
  /** Whether it takes all of the rest. */
  readonly isRest: boolean;
}

export interface Found<T> {
  readonly value: T;
  readonly params: PathParams;
}

const noParams: PathParams = Object.freeze({});

/** Matches a method and a path. Where a path without parameters fits, it wins; else the first row. */
export class Router<T> {
  /** Those without parameters, by path and method. */
  readonly #fixed = new Map<string, Map<string, Found<T>>>();
  readonly #rows: Row<T>[] = [];

  /** Adds a row. `:name` in the path is one segment, `:name{.+}` is all of the rest. */
  add(method: string, path: string, value: T): void {
    this.#rows.push({ method, parts: path.split("/").map(toPart), value });
    if (path.includes(":")) return;
    const methods = this.#fixed.get(path) ?? new Map<string, Found<T>>();
    this.#fixed.set(path, methods.set(method, { value, params: noParams }));
  }

  /** The row for a request; that of GET for HEAD. A slash at the end of the path makes no difference. */
  find(asked: string, path: string): Found<T> | undefined {
    const method = asked === "HEAD" ? "GET" : asked;
    const fixed = this.#fixed.get(path)?.get(method);
    if (fixed) return fixed;
    const segments = segmentsOf(path);
    for (const row of this.#rows) {
      const params = row.method === method ? paramsOf(row.parts, segments) : undefined;
      if (params) return { value: row.value, params };
    }
    return undefined;
  }

  /** The methods that a path takes, without HEAD and OPTIONS. */
  methodsOf(path: string): string[] {
    const segments = segmentsOf(path);
    return this.#rows.filter((row) => paramsOf(row.parts, segments)).map(({ method }) => method);
  }
}

function segmentsOf(path: string): string[] {
  const segments = path.split("/");
  if (segments.length > 2 && segments.at(-1) === "") segments.pop();
  return path.includes("%") ? segments.map(decoded) : segments;
}

/** As it came if it cannot be decoded. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function toPart(text: string): Part {
  const [, name, rest] = /^:(\w+)(\{\.\+\})?$/.exec(text) ?? [];
  return { text, name, isRest: rest !== undefined };
}

/** The parameters of a path that fits; undefined if it does not. */
function paramsOf(parts: readonly Part[], segments: readonly string[]): PathParams | undefined {
  const hasRest = parts.at(-1)?.isRest === true;
  if (segments.length < parts.length || (segments.length > parts.length && !hasRest)) return undefined;
  const params: Record<string, string> = {};
  for (const [index, { text, name, isRest }] of parts.entries()) {
    const segment = isRest ? segments.slice(index).join("/") : (segments[index] ?? "");
    if (name === undefined ? segment !== text : segment === "") return undefined;
    if (name !== undefined) params[name] = segment;
  }
  return params;
}
