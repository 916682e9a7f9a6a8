import { type Look, LOOKS } from "./item.js";

/** The view state that a link to the page contains. */
export interface ViewState {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cursorMs: number | undefined;
  readonly selected: string | undefined;
  readonly text: string;
  readonly namespace: string;
  readonly looks: ReadonlySet<Look>;
  /** Only failed pods, and the runs that have them. */
  readonly failedPods: boolean;
  /** Ids of collapsed rows. */
  readonly collapsed: ReadonlySet<string>;
  readonly zone: string;
  readonly view: "timeline" | "table";
  readonly theme: "auto" | "light" | "dark";
}

/** Returns the parts of a state that differ from the initial state, as a URL fragment. */
export function toHash(state: ViewState, initial: ViewState): string {
  const parameters = new URLSearchParams();
  if (state.fromMs !== initial.fromMs || state.toMs !== initial.toMs)
    parameters.set("range", `${Math.round(state.fromMs)}_${Math.round(state.toMs)}`);
  if (state.cursorMs !== undefined) parameters.set("cursor", String(Math.round(state.cursorMs)));
  if (state.selected !== undefined) parameters.set("selected", state.selected);
  if (state.text !== "") parameters.set("text", state.text);
  if (state.namespace !== "") parameters.set("namespace", state.namespace);
  if (state.looks.size > 0) parameters.set("outcome", [...state.looks].join("_"));
  if (state.failedPods) parameters.set("pods", "failed");
  const toggled = difference(state.collapsed, initial.collapsed);
  if (toggled.length > 0 && toggled.length <= MAX_TOGGLED) parameters.set("toggled", toggled.join("_"));
  for (const name of ["zone", "view", "theme"] as const)
    if (state[name] !== initial[name]) parameters.set(name, state[name]);
  return parameters.toString();
}

/** Limits the length of links: other programs truncate long ones. */
const MAX_TOGGLED = 30;

/** Reads a URL fragment on top of the initial state. Invalid parameters are ignored. */
export function fromHash(hash: string, initial: ViewState, isZone: (zone: string) => boolean): ViewState {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const text = (name: string): string => parameters.get(name) ?? "";
  const [fromMs = Number.NaN, toMs = Number.NaN] = text("range").split("_").map(Number);
  const isRange = Number.isFinite(fromMs) && Number.isFinite(toMs) && toMs > fromMs && text("range") !== "";
  const cursorMs = Number(text("cursor"));
  const collapsed = new Set(initial.collapsed);
  for (const id of text("toggled").split("_").filter(Boolean)) if (!collapsed.delete(id)) collapsed.add(id);
  const looks = text("outcome").split("_");
  return {
    fromMs: isRange ? fromMs : initial.fromMs,
    toMs: isRange ? toMs : initial.toMs,
    cursorMs: parameters.has("cursor") && Number.isFinite(cursorMs) ? cursorMs : undefined,
    selected: parameters.get("selected") ?? undefined,
    text: text("text"),
    namespace: text("namespace"),
    looks: new Set(LOOKS.filter((look) => looks.includes(look))),
    failedPods: text("pods") === "failed",
    collapsed,
    zone: isZone(text("zone")) ? text("zone") : initial.zone,
    view: text("view") === "table" ? "table" : initial.view,
    theme: text("theme") === "light" || text("theme") === "dark" ? (text("theme") as "light" | "dark") : initial.theme,
  };
}

function difference(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  return [...[...a].filter((id) => !b.has(id)), ...[...b].filter((id) => !a.has(id))];
}
