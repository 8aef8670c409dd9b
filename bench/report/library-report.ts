// The library's figures as tables.
import {
  floorName,
  isImport,
  isStream,
  type LibraryMeasure,
  libraryContenders,
  libraryMeasures,
  ourName,
} from "../library/library-measures.ts";
import type { LibraryResults } from "../library/measure-library.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Figures } from "./compare.ts";
import { figure, type Row, table } from "./table.ts";

export function libraryReport(results: LibraryResults): string {
  const names = libraryContenders.map(({ name }) => name);
  const others = names.filter((name) => name !== floorName);
  const head = ["CPU for …", floorName, ...others, "target", ""];
  const rows = libraryMeasures
    .filter((it) => !isImport(it))
    .map((measure): Row => {
      const { unit, per, target } = measure;
      const floor = milliseconds(results, measure, floorName);
      const absolute = (median(floor) / per) * (unit === "µs" ? 1000 : 1);
      const ratios = new Map(
        others.map((name) => [name, medianRatio(milliseconds(results, measure, name), floor)]),
      );
      return [
        measure.name,
        `${figure(absolute)} ${unit}`,
        ...others.map((name) => figure(ratios.get(name) ?? Number.NaN)),
        ...verdict(ratios.get(ourName), target, ""),
      ];
    });
  const imports = libraryMeasures.filter(isImport).map((measure): Row => {
    const medians = new Map(names.map((name) => [name, median(milliseconds(results, measure, name))]));
    const cells = names.map((name) => withUnit(medians.get(name) ?? Number.NaN, measure.unit));
    return [measure.name, ...cells, ...verdict(medians.get(ourName), measure.target, ` ${measure.unit}`)];
  });
  const deltas = libraryMeasures.filter(isStream).map((measure): Row => {
    const counts = names.map((name) =>
      median(
        results
          .get(measure)
          ?.get(name)
          ?.map((it) => it.deltas) ?? [],
      ),
    );
    return [measure.name, ...counts.map(figure)];
  });
  return `${table([head, ...rows])}

Rows without figures of the peers are not measured for them.

What a program pays before it does anything:

${table([["", ...names, "target", ""], ...imports])}

The number of deltas in which the user's code received the 20,000 chunks. A library that joins chunks does less work:

${table([["", ...names], ...deltas])}`;
}

/** The figures by which runs can be compared, by the names of their rows. */
export function libraryFigures(results: LibraryResults): Figures {
  return Object.fromEntries(
    libraryMeasures.map((measure) => {
      const ours = milliseconds(results, measure, ourName);
      const value = isImport(measure)
        ? median(ours)
        : medianRatio(ours, milliseconds(results, measure, floorName));
      return [`${measure.name} (library)`, { value, isHigherBetter: false }];
    }),
  );
}

function verdict(value: number | undefined, target: number, unit: string): [string, string] {
  return [`≤ ${target}${unit}`, (value ?? Number.NaN) <= target ? "reached" : "missed"];
}

function withUnit(value: number, unit: string): string {
  return Number.isNaN(value) ? "" : `${figure(value)} ${unit}`;
}

function milliseconds(results: LibraryResults, measure: LibraryMeasure, name: string): number[] {
  return (
    results
      .get(measure)
      ?.get(name)
      ?.map((it) => it.milliseconds) ?? []
  );
}
