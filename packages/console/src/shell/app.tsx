// The frame of all pages: navigation, the state of the connection, and the page of the current place.

import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { get, messageOf } from "../api/api.ts";
import { isConnected, reconnects } from "../api/connection.ts";
import { forgetKey, key, needsKey } from "../api/key.ts";
import icon from "../icon.svg";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { KeyPage } from "./key-page.tsx";
import { useKeys } from "./keys.ts";
import type { PageEntry, PageProps } from "./page-entry.ts";
import { openPalette, Palette } from "./palette.tsx";
import { linkTo, place } from "./router.ts";
import { openShortcuts, Shortcuts } from "./shortcuts.tsx";
import { documentTitle } from "./title.ts";

export function App({ pages }: { readonly pages: readonly PageEntry[] }) {
  const current = pages.find(({ path }) => path === place.value.page);
  const main = useRef<HTMLElement>(null);
  const title = documentTitle(current?.title);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    // Where there is little room, the links scroll.
    document.querySelector(".nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  const here = [place.value.page, ...place.value.rest].join("/");
  const shown = useRef(here);
  useEffect(() => {
    // What had the focus may be gone with the page that was left.
    if (shown.current !== here && document.activeElement === document.body)
      main.current?.focus({ preventScroll: true });
    shown.current = here;
  }, [here]);
  useKeys({ pages, openPalette, openShortcuts });
  if (needsKey.value) return <KeyPage />;
  return (
    <div class="shell">
      <button class="button skip-link" type="button" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="sidebar">
        <a class="brand" href={linkTo("")}>
          <img src={icon} alt="" />
          <span>Rondo</span>
        </a>
        <nav class="nav" aria-label="Pages">
          {pages.map(({ path, title, icon: name }) => (
            <a key={path} href={linkTo(path)} aria-current={path === current?.path ? "page" : undefined}>
              <Icon name={name} />
              {title}
            </a>
          ))}
        </nav>
        <div class="foot">
          <button class="button quiet" type="button" onClick={openPalette}>
            <Icon name="search" />
            <span class="label">Search</span>
            <kbd class="label soft">Ctrl K</kbd>
          </button>
          {key.value !== null && (
            <button class="button quiet" type="button" onClick={forgetKey}>
              <Icon name="key" />
              <span class="label">Forget the key</span>
            </button>
          )}
        </div>
      </header>
      <main class="main" id="main" tabIndex={-1} ref={main}>
        <div role="status">
          {!isConnected.value && (
            <div class="connection-lost">
              <Spinner /> The server does not answer. Trying again …
            </div>
          )}
        </div>
        {current ? <LoadedPage key={current.path} entry={current} /> : <NoSuchPage />}
      </main>
      <Palette pages={pages} onShortcuts={openShortcuts} />
      <Shortcuts pages={pages} />
    </div>
  );
}

function LoadedPage({ entry }: { readonly entry: PageEntry }) {
  const page = useSignal<ComponentType<PageProps> | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isAway = useRef(false);
  const [broken, mend] = useErrorBoundary((caught: unknown) => console.error(caught));
  useEffect(() => mend(), [place.value]);
  useEffect(() => {
    const load = async () => {
      try {
        page.value = await entry.load();
      } catch (caught) {
        error.value = caught;
        // If the server is away, this notices: the page is loaded when it is back.
        get("healthz").catch(() => {
          isAway.current = !isConnected.peek();
        });
      }
    };
    void load();
  }, [entry]);
  useEffect(() => {
    if (isAway.current) location.reload(); // what failed to load once is not loaded again in the same page
  }, [reconnects.value]);
  const Page = page.value;
  if (error.value !== undefined)
    return (
      <div class="page">
        <ErrorNotice
          title="This page could not be loaded."
          message={`${messageOf(error.value)} Reload to try again: the server may have a new version.`}
        />
      </div>
    );
  if (broken !== undefined)
    return (
      <div class="page">
        <ErrorNotice title="This page failed." message={messageOf(broken)} onRetry={mend} />
      </div>
    );
  return Page ? <Page place={place.value} /> : null;
}

function NoSuchPage() {
  return (
    <div class="page empty">
      <h1>There is no such page.</h1>
      <a href={linkTo("")}>Go to the home page</a>
    </div>
  );
}
