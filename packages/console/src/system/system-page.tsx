import { PageFrame } from "../ui/page.tsx";

export function SystemPage() {
  return <PageFrame title="System">{null}</PageFrame>;
}
