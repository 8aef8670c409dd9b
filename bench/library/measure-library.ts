// Measures the library and its peers repeatedly, each contender in a separate process for each measure.
import { type ContenderFigure, pathOf, runContender } from "../processes.ts";
import {
  type LibraryContender,
  type LibraryMeasure,
  libraryContenders,
  libraryMeasures,
} from "./library-measures.ts";

export interface LibraryOptions {
  readonly modelUrl: string;
  /** How many times the floors and this project are measured. */
  readonly rounds: number;
  /** How many times the peers are measured; 0 for never. */
  readonly peerRounds: number;
  /** Whether peers skip long measures. */
  readonly isQuick: boolean;
  readonly onProgress: (text: string) => void;
}

/** The figures of each repetition, by contender; skipped ones are missing. */
export type LibraryResults = ReadonlyMap<LibraryMeasure, ReadonlyMap<string, readonly ContenderFigure[]>>;

export async function measureLibrary(options: LibraryOptions): Promise<LibraryResults> {
  const results = new Map(libraryMeasures.map((measure) => [measure, new Map<string, ContenderFigure[]>()]));
  for (let round = 0; round < Math.max(options.rounds, options.peerRounds); round++)
    for (const [measure, figures] of results) {
      const contenders = libraryContenders.filter((contender) =>
        takesPart(contender, measure, round, options),
      );
      // Alternately forwards and backwards, so that no contender always follows the same one.
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        options.onProgress(`library, repetition ${round + 1}: ${measure.name}, ${contender.name}`);
        const figure = await runContender([
          pathOf(contender.file),
          options.modelUrl,
          measure.prompt,
          String(measure.count),
          String(measure.rounds),
          ...(measure.isLongRequest ? ["long"] : []),
        ]);
        figures.set(contender.name, [...(figures.get(contender.name) ?? []), figure]);
      }
    }
  return results;
}

function takesPart(
  { isPeer }: LibraryContender,
  { isLong = false, isLongRequest = false }: LibraryMeasure,
  round: number,
  { rounds, peerRounds, isQuick }: LibraryOptions,
): boolean {
  if (!isPeer) return round < rounds;
  return round < peerRounds && !isLongRequest && !(isQuick && isLong);
}
