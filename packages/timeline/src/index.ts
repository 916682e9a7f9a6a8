export { defineKubewrightTimeline } from "./element/define.js";

export type * from "./data/index.js";
export type { KubewrightTimelineElement, SelectDetail } from "./element/define.js";
export type { Theme } from "./element/theme.js";
export type { Selection } from "./page/page-environment.js";
