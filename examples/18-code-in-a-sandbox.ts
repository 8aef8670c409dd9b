// Code from the library: the same for a `Client`, in a container that this program opens
// (needs Linux with bubblewrap and Python)
import { Client } from "rondo";
import { bwrap, codeInterpreter } from "rondo/sandbox";
import { scriptedModel } from "rondo/testing";

// Runs nothing until its probes held: a machine on which it does not protect is told so.
const sandbox = bwrap();
const container = await sandbox.open({ isTemporary: true });
await container.write("sales.csv", new TextEncoder().encode("day,sales\n1,10\n2,20\n3,30\n"));

// Stands in for a model.
const model = scriptedModel([
  {
    calls: [
      {
        name: "python",
        input: {
          code: "import csv\nsales = [int(row['sales']) for row in csv.DictReader(open('sales.csv'))]\nopen('plot.txt', 'w').write('\\n'.join('#' * (it // 10) for it in sales))\nsum(sales)",
        },
      },
    ],
  },
  "You sold 60: the plot is in plot.txt.",
]);

await using client = new Client({ model, tools: [codeInterpreter({ container })], autoExecuteTools: true });
await client.query("Plot my sales.");
for await (const block of client.receiveMessages()) if (block.type === "text") console.log(block.text);

for (const { path, bytes } of await container.list()) console.log(path, bytes);
const plot = await Array.fromAsync(container.read("plot.txt"));
console.log(Buffer.concat(plot).toString());

await container.close({ removesFiles: true });
await sandbox.close();
// → You sold 60: the plot is in plot.txt.
// → plot.txt 8
// → sales.csv 25
// → #
// → ##
// → ###
