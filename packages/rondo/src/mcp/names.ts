// The names of a server's tools as models can have them: 64 letters, digits, `_` or `-`.

const longest = 64;

/** A name of which every model server takes each character, and no more than it takes. */
export function shortName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_") || "_";
  return plain.length <= longest ? plain : cut(plain, `_${checksum(name)}`);
}

/** A name for each of the others, all of them different; those that need no change keep theirs. */
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
  return name.slice(0, longest - ending.length) + ending;
}

/** Tells two long names apart that begin with the same words; the same in each run (FNV-1a). */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(36);
}
