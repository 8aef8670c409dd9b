// What is wrong with a configuration: all problems at once, each with its key and source.

export interface ConfigProblem {
  /** The key, such as `runs.leaseMs` or `endpoints[0].url`; empty if it concerns the whole. */
  readonly key: string;
  /** Where the value comes from: `rondo.yaml line 12`, `the environment variable RONDO_PORT`. */
  readonly source: string;
  /** What was expected and received, without secrets. */
  readonly message: string;
}

/** The configuration cannot be used. Its message names every problem. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "invalid_config";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], options?: ErrorOptions) {
    super(describe(problems), options);
    this.problems = problems;
  }
}

function describe(problems: readonly ConfigProblem[]): string {
  const lines = problems.map(({ key, source, message }) =>
    key === "" ? `${source}: ${message}` : `${key} (${source}): ${message}`,
  );
  return lines.length === 1
    ? `The configuration cannot be used. ${lines[0]}`
    : [`The configuration has ${lines.length} problems.`, ...lines.map((line) => `- ${line}`)].join("\n");
}
