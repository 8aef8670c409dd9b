// Tool names that every model server accepts: up to 64 letters, digits, `_` or `-`.

const maxLength = 64;

/** The name with other characters replaced, and shortened if it is too long. */
export function shortName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_") || "_";
  return plain.length <= maxLength ? plain : cut(plain, `_${checksum(name)}`);
}

/** A short name for each of the names, all distinct; those that are short already keep theirs. */
export function distinctNames(names: readonly string[]): Map<string, string> {
  const chosen = new Map<string, string>();
  const taken = new Set<string>();
  const unchanged = names.filter((name) => shortName(name) === name);
  for (const name of [...unchanged, ...names]) {
    if (chosen.has(name)) continue;
    const short = shortName(name);
    let free = short;
    for (let count = 2; taken.has(free); count += 1) free = cut(short, `_${count}`);
    taken.add(free);
    chosen.set(name, free);
  }
  return chosen;
}

function cut(name: string, ending: string): string {
  return name.slice(0, maxLength - ending.length) + ending;
}

/** Distinguishes long names that begin alike; stable across runs (FNV-1a). */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(36);
}
