// Everything that `rondo/demo` offers: a model for the first five minutes.

export { type DemoModelOptions, demoModel } from "./demo-model.ts";
