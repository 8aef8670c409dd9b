// Describes values in error messages, after "got".

const maxTextLength = 60;

/** Describes any value in a few words: `42`, `"text"`, `nothing`, `an array of 3`, `an instance of Date`. */
export function describe(value: unknown): string {
  try {
    return describeSafe(value);
  } catch {
    return "something that cannot be looked at"; // a revoked proxy, a getter that throws
  }
}

function describeSafe(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "string":
      return quote(value);
    case "function":
      return value.name === "" ? "a function" : `the function '${value.name}'`;
    case "object":
      return describeObject(value);
    case "bigint":
      return `${value}n`;
    default:
      return String(value);
  }
}

function describeObject(value: object | null): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) {
    const keys = Object.keys(value);
    return keys.length === 0 ? "{}" : `an object with ${shorten(keys.join(", "))}`;
  }
  const name = (value.constructor as { name?: unknown } | undefined)?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${name}` : "an object";
}

function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}
