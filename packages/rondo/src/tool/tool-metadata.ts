// A tool's name, description, schemas and the times of its last run.

import { copyData, freezeData } from "../json/copy.ts";
import { noteFixedSchema } from "./definition.ts";
import type { JsonSchema } from "./json-schema.ts";

export class ToolMetadata {
  /** The short name, without the names of parent tools. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  #startTime: Date | null = null;
  #endTime: Date | null = null;

  constructor(name: string, description: string, inputSchema: JsonSchema, outputSchema: JsonSchema | null) {
    this.name = name;
    this.description = description;
    // Frozen copies: readers must not change what the tool accepts.
    this.inputSchema = freezeData(copyData(inputSchema));
    noteFixedSchema(this.inputSchema);
    this.outputSchema = freezeData(copyData(outputSchema));
  }

  /** When the latest run started; `null` before the first. */
  get startTime(): Date | null {
    return this.#startTime;
  }

  /** When that run ended, successfully or not; `null` while it is under way. */
  get endTime(): Date | null {
    return this.#endTime;
  }

  /** Records the start of a run. The returned function records its end. */
  startRun(): () => void {
    const started = new Date();
    this.#startTime = started;
    this.#endTime = null;
    return () => {
      // Both times belong to one run: an older run that ends later does not count.
      if (this.#startTime === started) this.#endTime = new Date();
    };
  }

  /** The fields as JSON, times as ISO strings or `null`. */
  toJSON() {
    const { name, description, inputSchema, outputSchema } = this;
    const startTime = this.#startTime?.toISOString() ?? null;
    const endTime = this.#endTime?.toISOString() ?? null;
    return { name, description, startTime, endTime, inputSchema, outputSchema };
  }
}
