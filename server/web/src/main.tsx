// Where the page begins.

import "./style/index.css";
import { render } from "preact";
import { createPage } from "./app/page.ts";
import { App } from "./ui/app.tsx";

const host = document.getElementById("page");
if (host) {
  render(<App page={createPage(window)} />, host);
}
