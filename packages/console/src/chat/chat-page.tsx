// The chat: the list of chats, the messages of one, and the box to write in.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api/api.ts";
import { firstChatModel } from "../api/chat-models.ts";
import { reconnects } from "../api/connection.ts";
import type { ToolList } from "../api/inspect-types.ts";
import { useLoaded } from "../api/load.ts";
import type { SystemState } from "../api/types.ts";
import type { PageProps } from "../shell/page-entry.ts";
import { linkTo, place, replacePlace } from "../shell/router.ts";
import { useTitle } from "../shell/title.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icon.tsx";
import { Chat } from "./chat.ts";
import "./chat.css";
import { ChatList } from "./chat-list.tsx";
import { Composer } from "./composer.tsx";
import { EmptyChat } from "./empty-chat.tsx";
import { Messages } from "./messages.tsx";
import { userMessage } from "./request.ts";
import { changeSettings, resetSettings, settings } from "./settings.ts";
import { newestLeaf } from "./tree.ts";

interface ModelEntry {
  readonly id: string;
  readonly available?: boolean;
}

export function ChatPage({ place: here }: PageProps) {
  const id = here.rest[0] || undefined;
  const chat = useChat(id, here.query);
  const models = useLoaded((signal) => get<{ data: ModelEntry[] }>("v1/models", { signal }), []);
  const tools = useLoaded((signal) => get<ToolList>("v1/tools", { signal }), []);
  const system = useLoaded((signal) => get<SystemState>("v1/system", { signal }), []);
  const names = models.value.value?.data.map((model) => model.id) ?? [];
  const isListOpen = useSignal(false);
  const wanted = here.query.get("model");
  useEffect(() => {
    if (wanted !== null) changeSettings({ model: wanted });
    const { model } = settings.peek();
    const first = firstChatModel(names);
    if (first !== undefined && !names.includes(model)) changeSettings({ model: first });
  }, [names.join("\n"), wanted]);

  const server = {
    isStored: system.value.value?.store.kind !== "none",
    tools: tools.value.value?.data ?? [],
  };
  const path = chat.path.value;
  const send = (text: string, images: readonly string[]) => {
    const last = path.at(-1);
    void chat.send([userMessage(text, images)], last?.id ?? null, server);
  };
  const title = useMemo(() => titleOf(chat), [path[0]?.input]);
  useTitle(title === noTitle ? "" : title);
  return (
    <div class={`chat ${isListOpen.value ? "shows-list" : ""}`}>
      <ChatList
        current={chat.root.value}
        isStored={server.isStored}
        isBusy={chat.isBusy.value}
        onChosen={() => {
          isListOpen.value = false;
        }}
      />
      <div class="chat-main">
        <header class="chat-head">
          <button
            class="button quiet chat-list-button"
            type="button"
            aria-expanded={isListOpen.value}
            onClick={() => {
              isListOpen.value = !isListOpen.value;
            }}
          >
            <Icon name="runs" />
            Chats
          </button>
          <h1 class="one-line grow">{title}</h1>
        </header>
        {models.error.value && (
          <ErrorNotice
            title="The models could not be loaded."
            message={models.error.value.message}
            onRetry={models.reload}
          />
        )}
        {chat.problem.value !== undefined ? (
          <>
            <ErrorNotice
              title="This chat could not be loaded."
              message={chat.problem.value}
              onRetry={() => id !== undefined && void chat.load(id)}
            />
            <a href={linkTo("chat")}>Begin a new chat</a>
          </>
        ) : path.length === 0 && !chat.isLoading.value ? (
          <EmptyChat hasModels={names.length > 0 || !models.value.value} onSend={(text) => send(text, [])} />
        ) : (
          <Messages chat={chat} server={server} />
        )}
        {chat.problem.value === undefined && (
          <Composer
            key={chat.key}
            models={names}
            tools={tools.value.value}
            isBusy={chat.isBusy.value}
            onSend={send}
            onStop={() => void chat.stop(server)}
          />
        )}
      </div>
    </div>
  );
}

/** The chat of the current place. The place in turn follows the chat: its id, and the branch that is shown. */
function useChat(id: string | undefined, query: URLSearchParams): Chat {
  const chat = useSignal(new Chat());
  const from = query.get("from") ?? query.get("at") ?? undefined;
  useEffect(() => {
    const known = chat.peek();
    if (id === undefined) resetSettings();
    if (known.root.peek() === id && (from === undefined || known.nodes.peek().has(from))) {
      if (from !== undefined) void known.select(newestLeaf(known.nodes.peek(), from));
      return;
    }
    known.leave();
    const next = new Chat();
    chat.value = next;
    if (id !== undefined) void next.load(id, from);
  }, [id, from]);
  useEffect(() => {
    if (reconnects.value > 0) chat.peek().retry(id, from);
  }, [reconnects.value]);
  useEffect(() => () => chat.peek().leave(), []);
  const { root, leaf, nodes } = chat.value;
  const shown = root.value;
  const isNewest = newestLeaf(nodes.value) === leaf.value;
  useEffect(() => {
    if (shown === undefined || leaf.value === undefined || leaf.value.startsWith("new-")) return;
    if (place.peek().page !== "chat") return;
    replacePlace(linkTo("chat", [shown], isNewest ? undefined : { at: leaf.value }));
  }, [shown, leaf.value, isNewest]);
  return chat.value;
}

/** The heading of a chat that has no text yet. */
const noTitle = "Chat";

function titleOf(chat: Chat): string {
  const message = chat.path.peek()[0]?.input?.find(({ role }) => role === "user");
  if (!message) return noTitle;
  const { content } = message;
  const text = typeof content === "string" ? content : (content?.find((part) => part.text)?.text ?? "");
  return text.trim().slice(0, 120) || noTitle;
}
