// Everything that `rondo/testing` offers: what makes tests of agents fast, exact and free of the network.

export { ScriptError } from "./script-error.ts";
export type { ScriptedAnswer, ScriptedCall, ScriptedText } from "./scripted-answer.ts";
export {
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
  type ScriptedStep,
  scriptedModel,
} from "./scripted-model.ts";
