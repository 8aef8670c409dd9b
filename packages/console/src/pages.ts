// The table of pages. Each is loaded when it is shown for the first time.

import type { PageEntry } from "./shell/page-entry.ts";

export const pages: readonly PageEntry[] = [
  {
    path: "",
    title: "Home",
    icon: "home",
    load: async () => (await import("./home/home-page.tsx")).HomePage,
  },
  {
    path: "chat",
    title: "Chat",
    icon: "chat",
    load: async () => (await import("./chat/chat-page.tsx")).ChatPage,
  },
  {
    path: "runs",
    title: "Runs",
    icon: "runs",
    load: async () => (await import("./runs/runs-page.tsx")).RunsPage,
  },
  {
    path: "tools",
    title: "Tools",
    icon: "tools",
    load: async () => (await import("./tools/tools-page.tsx")).ToolsPage,
  },
  {
    path: "models",
    title: "Models",
    icon: "models",
    load: async () => (await import("./models/models-page.tsx")).ModelsPage,
  },
  {
    path: "system",
    title: "System",
    icon: "system",
    load: async () => (await import("./system/system-page.tsx")).SystemPage,
  },
  {
    path: "reference",
    title: "API",
    icon: "reference",
    load: async () => (await import("./reference/reference-page.tsx")).ReferencePage,
  },
];
