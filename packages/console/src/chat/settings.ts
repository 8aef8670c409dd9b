// How a person wants to be answered: kept for the next chat.

import { effect, signal } from "@preact/signals";
import { key } from "../api/key.ts";
import type { ResponseObject } from "../api/response.ts";

export interface ChatSettings {
  /** Empty: the first model that can chat. */
  readonly model: string;
  readonly instructions: string;
  /** Empty, like the other numbers: the model's own. */
  readonly temperature: string;
  readonly maxOutputTokens: string;
  readonly effort: string;
  /** A JSON schema for the answer; empty for text. */
  readonly schema: string;
  /** What was turned on or off, by the tool's key. Others are as the server offers them. */
  readonly tools: Readonly<Record<string, boolean>>;
}

export const efforts = ["none", "minimal", "low", "medium", "high"] as const;

export const defaultSettings: ChatSettings = {
  model: "",
  instructions: "",
  temperature: "",
  maxOutputTokens: "",
  effort: "",
  schema: "",
  tools: {},
};

const name = "rondo.chat";

/** With a key they end with the session, as the key does: the next person has another. */
const storage = () => (key.peek() === null ? localStorage : sessionStorage);

export const settings = signal<ChatSettings>(readSettings());

let usedKey = key.peek();
effect(() => {
  if (key.value === usedKey) return;
  usedKey = key.value;
  sessionStorage.removeItem(name);
  settings.value = readSettings();
});

/** Changes settings of this chat, and keeps them for the next one. */
export function changeSettings(change: Partial<ChatSettings>): void {
  showSettings(change);
  // Only these: the others may be those of an old chat that was opened.
  storage().setItem(name, JSON.stringify({ ...readSettings(), ...change }));
}

/** Shows the settings of a chat that was opened. */
export function showSettings(shown: Partial<ChatSettings>): void {
  settings.value = { ...settings.peek(), ...shown };
}

/** Shows the settings that are kept, for a new chat. */
export function resetSettings(): void {
  settings.value = readSettings();
}

/** The settings that a response was made with, as far as it tells. */
export function settingsOf(response: ResponseObject): Partial<ChatSettings> {
  const { model, instructions, temperature, max_output_tokens: maxTokens, reasoning, text } = response;
  return {
    model,
    instructions: typeof instructions === "string" ? instructions : "",
    temperature: temperature === 1 ? "" : String(temperature),
    maxOutputTokens: maxTokens === null ? "" : String(maxTokens),
    effort: reasoning.effort ?? "",
    schema: text.format.schema === undefined ? "" : JSON.stringify(text.format.schema, null, 2),
  };
}

function readSettings(): ChatSettings {
  try {
    const kept = JSON.parse(storage().getItem(name) ?? "{}") as Partial<ChatSettings>;
    return { ...defaultSettings, ...kept };
  } catch {
    return defaultSettings;
  }
}
