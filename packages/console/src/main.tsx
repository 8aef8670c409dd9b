// The entry of the console.

import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/dialog.css";
import { pages } from "./pages.ts";
import { App } from "./shell/app.tsx";

const root = document.getElementById("app");
if (root) render(<App pages={pages} />, root);
