import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { familyProfiles, serverProfiles } from "./known-profiles.ts";
import { commonProfile, pickProfile, profileFacts } from "./profiles.ts";

const at = (port: number) => `http://localhost:${port}/v1`;

/** Names of models, at least one of each family. */
const examples: [model: string, family: string][] = [
  ["gpt-oss:20b", "gpt-oss"],
  ["openai/gpt-oss-120b", "gpt-oss"],
  ["deepseek-r1:14b", "deepseek-r1"],
  ["deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "deepseek-r1"],
  ["deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-v3.2"],
  ["deepseek-ai/DeepSeek-V4-Flash", "deepseek-v4"],
  ["deepseek-v3.1:671b", "deepseek"],
  ["NousResearch/Hermes-3-Llama-3.1-8B", "hermes"],
  ["qwen3-coder:30b", "qwen-coder"],
  ["Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen-coder"],
  ["Qwen/Qwen3-30B-A3B-Thinking-2507", "qwen3-thinking"],
  ["qwen3.5:9b", "qwen3.5"],
  ["qwen3:8b", "qwen3"],
  ["qwq:32b", "qwq"],
  ["qwen2.5-coder:7b", "qwen"],
  ["mistralai/Magistral-Small-2507", "magistral"],
  ["mistralai/Ministral-3-14B-Reasoning-2512", "magistral"],
  ["mistral-small3.2", "mistral"],
  ["mistral-nemo", "mistral"],
  ["devstral:24b", "mistral"],
  ["nvidia/Llama-3.1-Nemotron-Nano-8B-v1", "nemotron"],
  ["llama3.2:3b", "llama"],
  ["meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama"],
  ["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-3"],
  ["meetkai/functionary-medium-v3.2", "functionary"],
  ["Salesforce/Llama-xLAM-2-8b-fc-r", "xlam"],
  ["gemma4:31b", "gemma-4"],
  ["google/functiongemma-270m-it", "functiongemma"],
  ["gemma3:12b", "gemma"],
  ["granite4:tiny-h", "granite"],
  ["zai-org/GLM-4.7-Flash", "glm-4.7"],
  ["zai-org/GLM-4.6", "glm"],
  ["moonshotai/Kimi-K3", "kimi-k3"],
  ["moonshotai/Kimi-K2-Thinking", "kimi"],
  ["MiniMaxAI/MiniMax-M1-80k", "minimax-m1"],
  ["MiniMaxAI/MiniMax-M3", "minimax-m3"],
  ["MiniMaxAI/MiniMax-M2", "minimax"],
  ["CohereLabs/command-a-reasoning-08-2025", "command-a-reasoning"],
  ["command-r7b:7b", "command"],
  ["CohereForAI/c4ai-command-r-plus", "command"],
  ["swiss-ai/Apertus-8B-Instruct-2509", "apertus"],
  ["ai-sage/GigaChat3-10B-A1.8B", "gigachat"],
  ["openbmb/MiniCPM5-1B", "minicpm"],
  ["tencent/Hunyuan-A13B-Instruct", "hunyuan"],
  ["tencent/Hy3-preview", "hunyuan"],
  ["meituan-longcat/LongCat-Flash-Chat", "longcat"],
  ["stepfun-ai/Step-3.5-Flash", "step-3.5"],
  ["stepfun-ai/step3", "step-3"],
  ["upstage/Solar-Open-100B", "solar"],
  ["muse-glimmer", "muse"],
  ["inkling-small", "inkling"],
  ["ByteDance-Seed/Seed-OSS-36B-Instruct", "seed-oss"],
  ["allenai/Olmo-3-32B-Think", "olmo-think"],
  ["allenai/Olmo-3-7B-Instruct", "olmo"],
  ["phi4-mini", "phi"],
  ["microsoft/Phi-4-mini-instruct", "phi"],
  ["LiquidAI/LFM2-1.2B", "lfm"],
];

describe("pickProfile", () => {
  test("knows a server by its port, and a family by the name of the model", () => {
    const { profile, reason } = pickProfile({ baseURL: at(11434), model: "qwen3:8b" });
    expect(profile).toMatchObject({
      name: "ollama/qwen3",
      sendReasoning: "reasoning",
      honoursToolChoice: false,
      outputMode: "native",
    });
    expect(reason).toBe(
      "server 'ollama' by its port 11434; model family 'qwen3' by the name 'qwen3:8b' (thinks in tags; keeps its reasoning between tool calls).",
    );
  });

  test("believes the caller about the server", () => {
    expect(pickProfile({ baseURL: at(9999), model: "x", server: "llama.cpp" }).profile.name).toBe("llamacpp");
    expect(pickProfile({ baseURL: at(11434), model: "x", server: "vllm" }).profile.name).toBe("vllm");
    expect(pickProfile({ baseURL: at(11434), model: "x", server: "other" }).reason).toContain(
      "no known server 'other'",
    );
  });

  test("gives the common profile where nothing is known", () => {
    expect(pickProfile({ baseURL: "https://example.org/v1", model: "my-model" }).profile).toEqual(
      commonProfile,
    );
    expect(pickProfile({ baseURL: "not a url", model: "" }).profile).toEqual(commonProfile);
  });

  test.each(examples)("%s is of the family %s", (model, family) => {
    expect(pickProfile({ baseURL: "http://example.org", model }).profile.name).toBe(family);
  });

  test("a template that opens the thinking matters only where the server leaves it in the text", () => {
    const model = "deepseek-r1:14b";
    expect(pickProfile({ baseURL: at(8000), model }).profile.startsThinking).toBe(true);
    expect(pickProfile({ baseURL: at(11434), model }).profile.startsThinking).toBe(false);
  });

  test("reasoning goes back in the field that the server knows, if the model wants it", () => {
    const sent = (port: number, model: string) =>
      pickProfile({ baseURL: at(port), model }).profile.sendReasoning;
    expect(sent(11434, "gpt-oss:20b")).toBe("reasoning");
    expect(sent(8080, "gpt-oss:20b")).toBe("reasoning_content");
    expect(sent(8000, "MiniMax-M2")).toBe("think-tags");
    expect(sent(8000, "deepseek-r1")).toBe("none");
  });

  test("what the user sets wins, and the reason says so; what is undefined does not count", () => {
    const { profile, reason } = pickProfile({
      baseURL: at(11434),
      model: "qwen3",
      override: { text: "cumulative", startsThinking: true, contextWindow: undefined as never },
    });
    expect(profile).toMatchObject({ name: "ollama/qwen3", text: "cumulative", startsThinking: true });
    expect(profile).not.toHaveProperty("contextWindow");
    expect(reason).toContain("set by the user: text, startsThinking.");
  });

  test("the same question has the same answer", () => {
    const question = { baseURL: at(8000), model: "Qwen/Qwen3-8B" };
    expect(pickProfile(question)).toEqual(pickProfile(question));
  });
});

describe('the recipe "Add a model profile" in CONTRIBUTING.md', () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/quirks.md"), "utf8");
  const rowsBelow = (heading: string) => {
    const [, table = ""] = new RegExp(`\n### ${heading}\n([\\s\\S]*?)\n###`).exec(page) ?? [];
    return table.split("\n").filter((line) => line.startsWith("| ") && !/^\| (server|family) /.test(line));
  };

  test("every family has an example of a name, which no family before it matches", () => {
    const found = new Set(examples.map(([, family]) => family));
    expect(familyProfiles.filter(({ name }) => !found.has(name))).toEqual([]);
  });

  test("docs/quirks.md has the row of each family", () => {
    const rows = familyProfiles.map((family) => {
      const { name, dialects = [], opensThinking = false, sendsBack, thinkTags = [["<think>"]] } = family;
      const cells = [
        `\`${name}\``,
        dialects.map((dialect) => `\`${dialect}\``).join(", "),
        thinkTags.map(([open]) => `\`${open.replaceAll("|", "\\|")}\``).join(", "),
        opensThinking ? "yes" : "",
        sendsBack === true ? "in the server's field" : sendsBack === undefined ? "" : "in think tags",
      ];
      return `| ${cells.join(" | ")} |`.replace(/ {2,}/g, " ");
    });
    expect(rowsBelow("Families")).toEqual(rows);
  });

  test("docs/quirks.md has the row of each server", () => {
    const rows = rowsBelow("Servers");
    for (const { port, reasoningField } of serverProfiles)
      expect(rows.filter((row) => row.includes(`| ${port} | \`${reasoningField}\` |`))).toHaveLength(1);
    expect(rows).toHaveLength(serverProfiles.length);
  });
});

describe("profileFacts", () => {
  const originsOf = (question: Parameters<typeof profileFacts>[0]) =>
    Object.fromEntries(profileFacts(question).map(({ name, from }) => [name, from]));

  test("say for each field which layer set it last", () => {
    const learned = { server: "ollama", evidence: "its answers", contextWindow: 4096 } as const;
    const question = {
      baseURL: at(1),
      model: "qwen3:8b",
      learned,
      override: { text: "cumulative" },
    } as const;
    expect(originsOf(question)).toMatchObject({
      text: "user",
      contextWindow: "server",
      honoursToolChoice: "server",
      outputMode: "server",
      sendReasoning: "known model",
      toolDialects: "known model",
      reasoningFields: "default",
      startsThinking: "default",
    });
    const { name: _, ...profile } = pickProfile(question).profile;
    expect(Object.fromEntries(profileFacts(question).map(({ name, value }) => [name, value]))).toEqual(
      profile,
    );
  });

  test("are all defaults for an unknown model on an unknown server, but for what the user set", () => {
    const question = { baseURL: at(1), model: "nobody", override: { contextWindow: 10 } };
    const { contextWindow, ...others } = originsOf(question);
    expect(contextWindow).toBe("user");
    expect(new Set(Object.values(others))).toEqual(new Set(["default"]));
  });
});
