// The messages of the branch that is shown. While the end is in view, it stays in view.

import { useEffect, useRef } from "preact/hooks";
import { place } from "../shell/router.ts";
import { AnswerView } from "./answer-view.tsx";
import type { Chat, ChatNode, ChatServer } from "./chat.ts";
import { InputItems } from "./input-items.tsx";
import "./messages.css";
import { otherPartsOf } from "./item-text.ts";
import { OlderNote } from "./older-note.tsx";
import { userMessage } from "./request.ts";
import { branchesOf, newestLeaf } from "./tree.ts";

export interface MessagesProps {
  readonly chat: Chat;
  readonly server: ChatServer;
}

/** A chat opens at its end: so many turns are there at once. */
const eagerMessages = 6;

export function Messages({ chat, server }: MessagesProps) {
  const path = chat.path.value;
  const list = useStickyEnd(path.at(-1)?.key);
  const { query } = place.value;
  const edited = query.get("edit") === "1" ? query.get("from") : null;
  return (
    <ol class="chat-messages" aria-label="Messages" aria-busy={chat.isBusy.value} ref={list}>
      {chat.hasOlder.value && <OlderNote />}
      {path.map((node, index) => (
        <li key={node.key} class="chat-turn">
          <Turn
            chat={chat}
            server={server}
            node={node}
            isLast={index === path.length - 1}
            isFar={index < path.length - eagerMessages}
            startsEditing={node.id === edited}
          />
        </li>
      ))}
    </ol>
  );
}

interface TurnProps extends MessagesProps {
  readonly node: ChatNode;
  readonly isLast: boolean;
  readonly isFar: boolean;
  readonly startsEditing: boolean;
}

function Turn({ chat, server, node, isLast, isFar, startsEditing }: TurnProps) {
  const { input, answer, previous } = node;
  const branches = branchesOf(chat.nodes.value, node);
  const show = (branch: ChatNode | undefined) => {
    if (!branch) return;
    chat.switchedTo = branch.id;
    void chat.select(newestLeaf(chat.nodes.peek(), branch.id));
  };
  const position = branches.findIndex(({ id }) => id === node.id);
  return (
    <>
      <InputItems
        input={input}
        startsEditing={startsEditing}
        branch={{
          position,
          count: branches.length,
          takesFocus: chat.switchedTo === node.id,
          onPrevious: () => show(branches[position - 1]),
          onNext: () => show(branches[position + 1]),
        }}
        onEdit={(text, images) => {
          // What else was sent with it, such as the history of another client, is sent again.
          const items = input ?? [];
          const at = items.findLastIndex(({ role }) => role === "user");
          const others = items[at] && otherPartsOf(items[at]);
          void chat.send([...items.slice(0, at), userMessage(text, images, others)], previous, server);
        }}
      />
      <AnswerView
        answer={answer}
        isLast={isLast}
        isFar={isFar}
        onRetry={input && (() => void chat.send(input, previous, server))}
        onReply={(items) => void chat.send(items, node.id, server)}
      />
    </>
  );
}

const nearPx = 120;
/** So long after a wheel, a finger or a key moved, what scrolls is their doing. */
const handMs = 300;

/** Follows the end of a growing list, as long as a person does not scroll away from it. */
function useStickyEnd(last: string | undefined) {
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  const known = useRef({ top: 0, height: 0 });
  const note = () => {
    known.current = { top: scrollY, height: document.documentElement.scrollHeight };
  };
  const toEnd = () => {
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    note();
  };
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    let movedAtMs = -Infinity;
    const onMove = (event: Event) => {
      movedAtMs = event.timeStamp;
    };
    const onScroll = ({ timeStamp }: Event) => {
      const { scrollHeight } = document.documentElement;
      const isNear = scrollHeight - scrollY - innerHeight < nearPx;
      // A list that shrinks scrolls up by itself, and may have grown again before the event of it comes. So it is a person
      // only where nothing changed, or where a hand has just moved.
      const isPerson = scrollHeight === known.current.height || timeStamp - movedAtMs < handMs;
      if (isNear) isAtEnd.current = true;
      else if (isPerson && scrollY < known.current.top) isAtEnd.current = false;
      if (isAtEnd.current && !isNear) toEnd();
      else note();
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) toEnd();
    });
    observer.observe(element);
    const listeners = { scroll: onScroll, wheel: onMove, touchmove: onMove, keydown: onMove };
    for (const [type, listener] of Object.entries(listeners))
      addEventListener(type, listener, { passive: true });
    return () => {
      observer.disconnect();
      for (const [type, listener] of Object.entries(listeners)) removeEventListener(type, listener);
    };
  }, []);
  useEffect(() => {
    isAtEnd.current = true;
    toEnd();
    // The button that was pressed may be gone with its branch.
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>(".composer textarea")?.focus({ preventScroll: true });
  }, [last]);
  return list;
}
