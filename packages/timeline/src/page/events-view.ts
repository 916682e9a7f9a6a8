import type { EventNote } from "../data/report-data.js";
import { h, addListener } from "./dom.js";
import { lowerBound } from "./lane.js";
import type { PageContext } from "./page-context.js";

/** Numbers of events before and after the cursor that are in the document. */
const BEFORE = 30;
const AFTER = 40;

/**
 * Returns the next whole second. Event times have whole seconds, so all events in the cursor's second have occurred.
 */
function nextSecond(atMs: number): number {
  return (Math.floor(atMs / 1_000) + 1) * 1_000;
}

/** The list of events, synchronized with the time cursor. */
export class EventsView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #list: HTMLElement;
  readonly #note = h("span", { class: "muted" });
  #events: readonly EventNote[] = [];
  #times: readonly number[] = [];
  #filtered = "";
  #shown = "";

  constructor(context: PageContext) {
    this.#context = context;
    this.#list = h("ol", { class: "event-list", tabindex: 0, "aria-label": "Events around the cursor" });
    this.element = h(
      "section",
      { class: "events", "aria-label": "Events" },
      h("h2", {}, "Events ", this.#note),
      this.#list,
    );
  }

  render(): void {
    const { data, state, zone } = this.#context;
    // Events are only appended, unless a live cluster restarts.
    const filtered = `${data.events.length} ${data.events.at(-1)?.atMs} ${state.text} ${state.namespace}`;
    if (filtered !== this.#filtered) {
      this.#filtered = filtered;
      this.#events = this.#wanted();
      this.#times = this.#events.map(({ atMs }) => atMs);
    }
    // Without a cursor: the events in the window; for a live cluster, the latest ones.
    const isLive = this.#context.fetchObject !== undefined;
    const atMs = state.cursorMs ?? (isLive ? state.toMs : state.fromMs);
    const current =
      state.cursorMs === undefined && !isLive
        ? lowerBound(this.#times, atMs)
        : lowerBound(this.#times, nextSecond(atMs)) - 1;
    const shown = `${filtered} ${current} ${state.cursorMs === undefined} ${zone.zone}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const from = Math.max(0, current - BEFORE);
    const events = this.#events.slice(from, current + AFTER);
    this.#note.textContent =
      this.#events.length === 0
        ? "none"
        : `${Math.max(1, current + 1).toLocaleString("en")} of ${this.#events.length.toLocaleString("en")}`;
    const rows = events.map((event, index) =>
      this.#row(event, from + index === current && state.cursorMs !== undefined),
    );
    this.#list.replaceChildren(...rows);
    const row = rows[Math.max(0, current - from)];
    if (row !== undefined) this.#list.scrollTop = row.offsetTop - this.#list.clientHeight * 0.35;
  }

  #row(event: EventNote, isCurrent: boolean): HTMLElement {
    const { zone, state } = this.#context;
    const isLater = state.cursorMs !== undefined && event.atMs >= nextSecond(state.cursorMs);
    const { kind, name } = event.involved;
    const row = h(
      "li",
      { class: `${event.warning ? "warning" : ""}${isLater ? " later" : ""}`, "aria-current": isCurrent && "time" },
      h("time", {}, zone.second(event.atMs).slice(5)),
      h(
        "button",
        { type: "button", class: "link" },
        `${event.warning ? "Warning: " : ""}${event.reason}${event.count > 1 ? ` ×${event.count}` : ""}`,
      ),
      h("span", { class: "object" }, `${kind} ${name}`),
      h("span", { class: "message" }, event.message),
    );
    addListener(row, { onclick: () => this.#go(event) });
    return row;
  }

  #go({ atMs, involved }: EventNote): void {
    const { scene } = this.#context;
    for (const item of scene.items.values()) {
      const name = item.type === "run" ? item.row.name : item.type === "pod" ? item.pod.name : "";
      const kind = item.type === "run" ? "Job" : "Pod";
      if (name !== involved.name || kind !== involved.kind || item.group.namespace !== involved.namespace) continue;
      this.#context.select(item);
      this.#context.update({ cursorMs: atMs });
      return;
    }
    const row = scene.rows.find(
      ({ group, level }) =>
        level === 1 &&
        group.kind === involved.kind &&
        group.name === involved.name &&
        group.namespace === involved.namespace,
    );
    this.#context.update({ cursorMs: atMs, selected: row?.id });
  }

  #wanted(): readonly EventNote[] {
    const { data, state } = this.#context;
    const text = state.text.trim().toLowerCase();
    if (text === "" && state.namespace === "") return data.events;
    return data.events.filter(
      ({ involved, reason, message }) =>
        (state.namespace === "" || involved.namespace === state.namespace) &&
        (text === "" || `${involved.namespace}/${involved.name} ${reason} ${message}`.toLowerCase().includes(text)),
    );
  }
}
