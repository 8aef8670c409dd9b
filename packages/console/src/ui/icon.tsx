// Icons as strokes, so that they take the colour of the text beside them.

const shapes = {
  home: "M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1z",
  chat: "M4 4h12a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H9l-4 3v-3H4a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z",
  runs: "M4 5h12M4 10h8M4 15h10",
  tools: "M12.5 3.5a4 4 0 0 0-3.8 5.3L3.5 14a1.8 1.8 0 0 0 2.5 2.5l5.2-5.2a4 4 0 0 0 5.3-3.8l-2.6 1-2.4-2.4z",
  models: "M10 3l7 4-7 4-7-4zM3 10.5l7 4 7-4M3 14l7 4 7-4",
  system: "M3 11h3l2-6 4 11 2-5h3",
  reference: "M5 3h9a1 1 0 0 1 1 1v13H6a1 1 0 0 1-1-1zM5 16a1 1 0 0 1 1-1h9M8 6.5h4M8 9.5h4",
  search: "M9 4a5 5 0 1 1 0 10A5 5 0 0 1 9 4zM13 13l4 4",
  key: "M7.5 8.5a4 4 0 1 1 3.9 4.9L10 15H8.5v1.5H7V18H4v-3z",
  copy: "M7 7h9v10H7zM4 13V4a1 1 0 0 1 1-1h8",
  check: "M4 10.5l4 4 8-9",
  close: "M5 5l10 10M15 5 5 15",
  stop: "M6 6h8v8H6z",
  send: "M4 10h11M11 5l5 5-5 5",
  plus: "M10 4v12M4 10h12",
  edit: "M4 16l1-4 8.5-8.5 3 3L8 15z",
  chevron: "M7 5l5 5-5 5",
  branch: "M6 4v12M6 11c0-3 8-1 8-5.5M4.5 4h3M4.5 16h3M12.5 5.5h3",
  image: "M4 4h12v12H4zM4 13l4-4 3 3 2-2 3 3M12.5 7.5h.01",
  settings: "M4 6h6M15 6h1M12.5 3.5v5M4 14h1M10 14h6M7.5 11.5v5",
  warning: "M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.5h.01",
  keyboard: "M3 6h14v8H3zM6 9h.01M9 9h.01M12 9h.01M14.5 9h.01M7 11.8h6",
  play: "M6 4.5v11l9-5.5z",
} as const;

export type IconName = keyof typeof shapes;

/** An icon, without meaning of its own: say in text what it stands for. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      width="18"
      height="18"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  );
}
