// Measures the library and its peers: round after round, each contender in a process of its own for each measure.
import { type ContenderFigure, pathOf, runContender } from "../processes.ts";
import {
  type LibraryContender,
  type LibraryMeasure,
  libraryContenders,
  libraryMeasures,
} from "./library-measures.ts";

export interface LibraryOptions {
  readonly modelUrl: string;
  /** How often the floors and this project are measured. */
  readonly rounds: number;
  /** How often the peers are; not at all with 0. */
  readonly peerRounds: number;
  /** Whether peers may skip what takes them long. */
  readonly isQuick: boolean;
  readonly onProgress: (text: string) => void;
}

/** The figures of each round, by contender; one that was left out is not there. */
export type LibraryResults = ReadonlyMap<LibraryMeasure, ReadonlyMap<string, readonly ContenderFigure[]>>;

export async function measureLibrary(options: LibraryOptions): Promise<LibraryResults> {
  const results = new Map(libraryMeasures.map((measure) => [measure, new Map<string, ContenderFigure[]>()]));
  for (let round = 0; round < Math.max(options.rounds, options.peerRounds); round++)
    for (const [measure, figures] of results) {
      const contenders = libraryContenders.filter((contender) =>
        takesPart(contender, measure, round, options),
      );
      // By turns forwards and backwards, so that nobody always comes after the same one.
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        options.onProgress(`library, round ${round + 1}: ${measure.name}, ${contender.name}`);
        const figure = await runContender([
          pathOf(contender.file),
          options.modelUrl,
          measure.prompt,
          String(measure.count),
          String(measure.rounds),
        ]);
        figures.set(contender.name, [...(figures.get(contender.name) ?? []), figure]);
      }
    }
  return results;
}

function takesPart(
  { isPeer }: LibraryContender,
  { isLong = false }: LibraryMeasure,
  round: number,
  { rounds, peerRounds, isQuick }: LibraryOptions,
): boolean {
  if (!isPeer) return round < rounds;
  return round < peerRounds && !(isQuick && isLong);
}
