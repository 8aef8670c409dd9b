import { PageFrame } from "../ui/page.tsx";

export function ReferencePage() {
  return <PageFrame title="Reference">{null}</PageFrame>;
}
