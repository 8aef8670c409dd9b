// A streaming tool: progress values, and a result at the end
import { Agent, Turn, tool } from "rondo";

// Yielded values are progress. The return value is the turn's result.
const importRows = tool(
  { name: "import_rows", description: "Import rows from a table.", input: { rows: Array } },
  async function* ({ rows }) {
    let skipped = 0;
    for (const [index, row] of rows.entries()) {
      if (typeof row !== "number") skipped += 1;
      yield `${index + 1} of ${rows.length}`;
    }
    return { imported: rows.length - skipped, skipped };
  },
);

// Without an agent: the values come one by one, and the turn keeps the result.
const turn = new Turn(importRows, { rows: [3, 5, "x"] });
for await (const progress of turn.yielding()) console.log(progress);
// → 1 of 3
// → 2 of 3
// → 3 of 3
console.log(turn.output); // → { imported: 2, skipped: 1 }

// In an agent: the same, and the run yields the result last.
const importer = new Agent({ name: "importer", tools: [importRows] });
await importer.put(new Turn(importRows, { rows: [8] }));
for await (const [, value] of importer.run()) console.log(value);
// → 1 of 1
// → { imported: 1, skipped: 0 }

// A stream without a return value has the list of its values as output.
const count = tool("count", "Count down.", { from: Number }, async function* ({ from }) {
  for (let number = from; number > 0; number -= 1) yield number;
});
const countdown = new Turn(count, { from: 3 });
for await (const number of countdown.yielding()) console.log(number);
// → 3
// → 2
// → 1
console.log(countdown.output); // → [ 3, 2, 1 ]
