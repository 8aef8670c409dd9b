// Which models can chat, by their names: model servers list embedding, reranking and speech models among the others.

const otherPurpose = /embed|rerank|whisper|text-to-speech|stable-diffusion/i;
/** Families of embedding, reranking and speech models; only as a whole word, because they are short. */
const otherFamily =
  /(?<![a-z0-9])(?:bge|gte|e5|minilm|mpnet|colbert|gtr|sbert|splade|clip|tts|stt|asr)(?![a-z0-9])/i;

/** Those that can chat, in the same order. A model that cannot may still be named. */
export function chatModels(names: readonly string[]): string[] {
  return names.filter((name) => !otherPurpose.test(name) && !otherFamily.test(name));
}
