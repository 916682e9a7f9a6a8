export { App } from "./app.js";
export { h, icon, addListener } from "./dom.js";
export { LINK, SUN } from "./icons.js";
export { showPage } from "./show-page.js";
export { ownDocument } from "./page-environment.js";
export { unpackData } from "./unpack-data.js";

export type { AppOptions } from "./app.js";
export type { LiveRun } from "./live-run.js";
export type { ShownPage } from "./show-page.js";
export type { Address, Selection, PageEnvironment } from "./page-environment.js";
