// Parses the commands in the documentation: the lines of its ```sh blocks, and the words of each command.

/** The command lines of a document, in order, without comments; a line that ends in `\` continues on the next one. */
export function shellLinesIn(markdown: string): string[] {
  const blocks = markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, block = ""]) =>
    block
      .replaceAll(/\\\n\s*/g, "")
      .split("\n")
      .map(withoutComment)
      .filter((line) => line !== ""),
  );
}

/** The arguments of each `rondo` command in a line, under any of its names. */
export function rondoCallsIn(line: string): string[][] {
  return commandsIn(line).flatMap((words) => {
    const [first = "", second = "", ...others] = words.filter((word) => !/^[A-Z_]+=/.test(word));
    if (first === "rondo") return [second === "" ? [] : [second, ...others]];
    if (first === "npx" && (second === "rondo" || second === "@rondo/server")) return [others];
    return [];
  });
}

const words = /"((?:\\.|[^"\\])*)"|'([^']*)'|(\|\||&&|[|;&])|(\d?>>?|<)\s*\S+|((?:\\.|[^\s"'|;&<>\\])+)/g;

/** The commands of a line, each as its words, without redirections. Quotes inside a word are not supported. */
function commandsIn(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [, double, single, separator, redirection, plain] of line.matchAll(words)) {
    if (separator !== undefined) commands.push([]);
    else if (redirection === undefined) commands.at(-1)?.push(double ?? single ?? plain ?? "");
  }
  return commands.filter((command) => command.length > 0);
}

function withoutComment(line: string): string {
  const quotedOrComment = /"(?:\\.|[^"\\])*"|'[^']*'|(?:^|\s)#.*$/g;
  return line.replaceAll(quotedOrComment, (part) => (/^\s*#/.test(part) ? "" : part)).trim();
}
