// The greeting, which says the next step for the state that the server is in.

import type { SystemState } from "../api/types.ts";
import { linkTo } from "../shell/router.ts";
import { Icon } from "../ui/icon.tsx";

export function Welcome({ system }: { readonly system: SystemState }) {
  const { is_demo: isDemo, endpoints } = system;
  const hasModels = endpoints.some(({ models }) => models.length > 0);
  return (
    <header class="home-welcome">
      <h1>Rondo is running</h1>
      <p>{isDemo ? demoText : hasModels ? readyText : emptyText}</p>
      <div class="row">
        {hasModels && (
          <a class="button primary" href={linkTo("chat")}>
            <Icon name="chat" />
            Start a chat
          </a>
        )}
        <a class="button" href={linkTo("models")}>
          {hasModels ? "Check the models" : "See what is wrong"}
        </a>
      </div>
      {isDemo && (
        <p class="notice">
          <strong>The next step: a real model.</strong> Start Ollama, LM Studio, llama.cpp or vLLM on this
          machine, for example with <code>ollama run qwen3:8b</code>, and start this server again. It finds
          them by itself.
        </p>
      )}
    </header>
  );
}

const readyText =
  "Your models answer, with tools, state and background runs. Talk to one, or call it from your code.";
const demoText =
  "No model server was found on this machine, so a demo model stands in. It is not a language model, but it calculates, calls tools and streams: ask it what 25 + 17 is.";
const emptyText =
  "No model answers yet. Start your model server, or pull a model into it: this page shows it as soon as it is there.";
