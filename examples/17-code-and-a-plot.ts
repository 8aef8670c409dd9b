// Code on the server: a model works on an uploaded CSV in a sandbox, and the OpenAI client downloads its plot
// (needs Linux with bubblewrap and Python)
import { startServer } from "@rondo/server";
import OpenAI from "openai";
import { scriptedModel } from "rondo/testing";

// Stands in for a model that reads the data, draws a plot, and names it in its answer. Without packages: a plot is text.
const model = scriptedModel([
  {
    calls: [
      {
        name: "python",
        input: {
          code: "import csv\nrows = list(csv.DictReader(open('/mnt/data/sales.csv')))\nsum(int(row['sales']) for row in rows)",
        },
      },
    ],
  },
  {
    calls: [
      {
        name: "python",
        // The variables of the first call are still there.
        input: {
          code: [
            'bars = \'\'.join(f\'<rect x="{20 * i}" y="{100 - int(row["sales"])}" width="15" height="{row["sales"]}"/>\' for i, row in enumerate(rows))',
            "open('/mnt/data/plot.svg', 'w').write(f'<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 100\">{bars}</svg>')",
            "len(rows)",
          ].join("\n"),
        },
      },
    ],
  },
  "You sold 60 in 3 days: see [the plot](sandbox:/mnt/data/plot.svg).",
]);

await using server = await startServer({
  port: 0,
  store: "memory",
  log: { level: "silent" },
  models: { scripted: model },
});

const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
const file = await openai.files.create({
  file: new File(["day,sales\n1,10\n2,20\n3,30\n"], "sales.csv"),
  purpose: "user_data",
});
const response = await openai.responses.create({
  model: "scripted",
  input: "Plot my sales.",
  tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [file.id] } }],
  include: ["code_interpreter_call.outputs"],
});
for (const item of response.output) {
  if (item.type === "code_interpreter_call") console.log("code gave", item.outputs);
  if (item.type !== "message") continue;
  for (const part of item.content) {
    if (part.type !== "output_text") continue;
    console.log(part.text);
    for (const cited of part.annotations) {
      if (cited.type !== "container_file_citation") continue;
      const { container_id } = cited;
      const plot = await openai.containers.files.content.retrieve(cited.file_id, { container_id });
      console.log(cited.filename, (await plot.text()).match(/<rect/g)?.length, "bars");
      await openai.containers.delete(container_id);
    }
  }
}
// → code gave [ { type: 'logs', logs: '60\n' } ]
// → code gave [ { type: 'logs', logs: '3\n' } ]
// → You sold 60 in 3 days: see [the plot](sandbox:/mnt/data/plot.svg).
// → plot.svg 3 bars
