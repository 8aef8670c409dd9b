// The chats that are kept, the newest first, with a search.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get, messageOf } from "../api/api.ts";
import { useLoaded } from "../api/load.ts";
import type { Page, RunSummary } from "../api/types.ts";
import { goTo, linkTo } from "../shell/router.ts";
import { formatTime } from "../ui/format.ts";
import { Icon } from "../ui/icon.tsx";
import "./chat-list.css";
import { consoleSource, deleteThread } from "./thread.ts";

export interface ChatListProps {
  readonly current: string | undefined;
  /** Whether the server keeps chats. */
  readonly isStored: boolean;
  /** When an answer begins or ends, the list is loaded again. */
  readonly isBusy: boolean;
  readonly onChosen: () => void;
}

const pageSize = 40;

export function ChatList({ current, isStored, isBusy, onChosen }: ChatListProps) {
  const search = useSignal("");
  const count = useSignal(1);
  const problem = useSignal<string | undefined>(undefined);
  const { value, error, reload } = useLoaded(
    (signal) => loadChats(search.peek(), count.peek(), signal),
    [search.value, count.value, current, isBusy],
  );
  const start = useRef<HTMLAnchorElement>(null);
  const removeChat = async (chat: RunSummary) => {
    start.current?.focus(); // the button goes with the chat
    try {
      await deleteThread(chat.id);
      if (chat.id === current) goTo(linkTo("chat"));
    } catch (caught) {
      problem.value = messageOf(caught);
    }
    reload();
  };
  const chats = value.value?.data ?? [];
  return (
    <section class="chat-list" aria-label="Chats">
      <a class="button" href={linkTo("chat")} ref={start} onClick={onChosen}>
        <Icon name="plus" />
        New chat
      </a>
      <label>
        <span class="visually-hidden">Search the chats</span>
        <input
          class="input"
          type="search"
          placeholder="Search"
          value={search}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
      </label>
      <div role="alert">{problem.value !== undefined && <p class="notice bad">{problem}</p>}</div>
      {error.value && <p class="notice bad">{error.value.message}</p>}
      {value.value && chats.length === 0 && (
        <p class="soft chat-list-note">
          {!isStored
            ? "This server keeps no chats: its config has no store."
            : search.value === ""
              ? "Chats that you begin are kept here."
              : "No chat has this in its first message."}
        </p>
      )}
      <ul>
        {chats.map((chat) => (
          <ChatEntry
            key={chat.id}
            chat={chat}
            isCurrent={chat.id === current}
            onChosen={onChosen}
            onRemove={() => void removeChat(chat)}
          />
        ))}
      </ul>
      {value.value?.has_more === true && (
        <button
          class="button quiet"
          type="button"
          onClick={() => {
            count.value += 1;
          }}
        >
          Show more
        </button>
      )}
    </section>
  );
}

interface ChatEntryProps {
  readonly chat: RunSummary;
  readonly isCurrent: boolean;
  readonly onChosen: () => void;
  readonly onRemove: () => void;
}

function ChatEntry({ chat, isCurrent, onChosen, onRemove }: ChatEntryProps) {
  const title = chat.title || "Without text";
  const isAsking = useSignal(false);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  return (
    <li class="chat-entry">
      <a
        ref={link}
        href={linkTo("chat", [chat.id])}
        aria-current={isCurrent ? "page" : undefined}
        onClick={onChosen}
      >
        <span class="one-line">{title}</span>
        <span class="soft one-line">{formatTime(chat.created_at_ms)}</span>
      </a>
      {isAsking.value ? (
        <button
          class="button danger"
          type="button"
          ref={(button) => button?.focus()}
          onClick={onRemove}
          onBlur={() => {
            isAsking.value = false;
          }}
        >
          Delete?
        </button>
      ) : (
        <button
          class="button quiet"
          type="button"
          aria-label={`Delete the chat ${title}`}
          onClick={() => {
            isAsking.value = true;
          }}
        >
          <Icon name="close" />
        </button>
      )}
    </li>
  );
}

/** The first pages together. A search may take several until there are hits. */
async function loadChats(search: string, pages: number, signal: AbortSignal): Promise<Page<RunSummary>> {
  const data: RunSummary[] = [];
  const wanted = pages * pageSize;
  let page: Page<RunSummary> | undefined;
  for (let round = 0; round < 20 && data.length < wanted && page?.has_more !== false; round += 1) {
    const query = new URLSearchParams({ source: consoleSource, roots: "true", limit: `${pageSize}` });
    if (search !== "") query.set("search", search);
    if (page?.last_id) query.set("after", page.last_id);
    page = await get<Page<RunSummary>>(`v1/runs?${query}`, { signal });
    data.push(...page.data);
  }
  return { first_id: null, last_id: null, has_more: false, ...page, data };
}
