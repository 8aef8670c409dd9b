// The name of a flag, as the parser of the command line hands it over.

/** `--model-url <url>` is `modelUrl`. */
export function camelCase(flag: string): string {
  const [name = ""] = flag.replace(/^--/, "").split(" ");
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
