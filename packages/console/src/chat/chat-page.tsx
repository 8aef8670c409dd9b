import { PageFrame } from "../ui/page.tsx";

export function ChatPage() {
  return <PageFrame title="Chat">{null}</PageFrame>;
}
