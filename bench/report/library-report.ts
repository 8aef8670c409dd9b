// The library's figures as tables.
import {
  floorName,
  isStream,
  type LibraryMeasure,
  libraryContenders,
  libraryMeasures,
  ourName,
} from "../library/library-measures.ts";
import type { LibraryResults } from "../library/measure-library.ts";
import { median, medianRatio } from "../statistics.ts";
import { figure, type Row, table } from "./table.ts";

export function libraryReport(results: LibraryResults): string {
  const names = libraryContenders.map(({ name }) => name);
  const others = names.filter((name) => name !== floorName);
  const head = ["CPU for …", floorName, ...others, "target", ""];
  const rows = libraryMeasures.map((measure): Row => {
    const { unit, per, target } = measure;
    const floor = milliseconds(results, measure, floorName);
    const absolute = (median(floor) / per) * (unit === "µs" ? 1000 : 1);
    const ratios = new Map(
      others.map((name) => [name, medianRatio(milliseconds(results, measure, name), floor)]),
    );
    const isReached = (ratios.get(ourName) ?? Number.NaN) <= target;
    return [
      measure.name,
      `${figure(absolute)} ${unit}`,
      ...others.map((name) => figure(ratios.get(name) ?? Number.NaN)),
      `≤ ${target}`,
      isReached ? "reached" : "missed",
    ];
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

The number of deltas in which the user's code received the 20,000 chunks. A library that joins chunks does less work:

${table([["", ...names], ...deltas])}`;
}

function milliseconds(results: LibraryResults, measure: LibraryMeasure, name: string): number[] {
  return (
    results
      .get(measure)
      ?.get(name)
      ?.map((it) => it.milliseconds) ?? []
  );
}
