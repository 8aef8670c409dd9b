// Programs to try, each with a button that copies it.

import { serverAddress } from "../api/address.ts";
import { firstChatModel } from "../api/chat-models.ts";
import type { SystemState } from "../api/types.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { snippets } from "./snippets.ts";

export function WhatToTry({ system }: { readonly system: SystemState }) {
  const model = firstChatModel(system.endpoints.flatMap(({ models }) => models)) ?? "MODEL";
  const options = { address: serverAddress(), model, hasAuth: system.auth };
  const tabs = snippets(options).map(({ id, title, hint, code }) => ({
    id,
    title,
    content: () => (
      <div class="stack home-snippet">
        <div class="row">
          <span class="soft grow">{hint}</span>
          <CopyButton text={() => code} />
        </div>
        <CodeBlock label={title}>{code}</CodeBlock>
      </div>
    ),
  }));
  return (
    <div class="card">
      <Tabs label="Programs to try" tabs={tabs} />
      {system.auth && (
        <p class="soft home-key">
          <code>RONDO_API_KEY</code> stands for your key: set it in the environment.
        </p>
      )}
    </div>
  );
}
