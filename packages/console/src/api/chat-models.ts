// Which model a person meant if they did not say: model servers list embedding and speech models among the others.

const otherPurpose =
  /embed|rerank|whisper|text-to-speech|stable-diffusion|(?<![a-z0-9])(?:bge|gte|e5|minilm|clip|tts|stt|asr)(?![a-z0-9])/i;

/** The first that can chat; the first of all if none looks like it. */
export function firstChatModel(names: readonly string[]): string | undefined {
  return names.find((name) => !otherPurpose.test(name)) ?? names[0];
}
