export { neverText } from "../text/run-row-text.js";
export { printable, styleFor } from "../text/style.js";

export type { Style } from "../text/style.js";
