import { button, h, addListener } from "./dom.js";
import { durationText } from "./duration-text.js";
import type { Item } from "./item.js";
import { itemOutcome, latenessMs } from "./item-text.js";
import type { PageContext } from "./page-context.js";

const PAGE = 100;
const COLUMNS = ["Run", "Namespace", "Due", "Started", "Took", "Outcome", "Reason"];

/** The runs of the timeline as a table, for screen readers and for readers who prefer text. */
export class TableView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #openDetails: () => void;
  #runs: readonly Item[] = [];
  #page = 0;
  #shown = "";

  constructor(context: PageContext, openDetails: () => void) {
    this.#context = context;
    this.#openDetails = openDetails;
    this.element = h("section", { class: "table", "aria-label": "Runs as a table" });
  }

  /** @param version - Changes when the data or the filter changes. */
  render(version: number): void {
    const { scene, zone, state } = this.#context;
    const shown = `${version} ${zone.zone} ${this.#page} ${state.selected}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#runs = [...scene.runs].sort((a, b) => a.startMs - b.startMs);
    const pages = Math.max(1, Math.ceil(this.#runs.length / PAGE));
    this.#page = Math.min(this.#page, pages - 1);
    const from = this.#page * PAGE;
    const rows = this.#runs.slice(from, from + PAGE);
    const last = from + rows.length;
    this.element.replaceChildren(
      h(
        "table",
        {},
        h(
          "caption",
          {},
          `Runs ${rows.length === 0 ? 0 : from + 1} to ${last} of ${this.#runs.length}, times in ${zone.zone}`,
        ),
        h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...rows.map((item) => this.#row(item))),
      ),
      h(
        "nav",
        { "aria-label": "Pages of the table" },
        this.#showPage("Previous", -1, this.#page > 0),
        this.#showPage("Next", 1, last < this.#runs.length),
      ),
    );
  }

  #showPage(label: string, by: number, isPossible: boolean): HTMLButtonElement {
    const turn = button(label, `${label} page`, () => {
      this.#page += by;
      this.#context.update({});
      this.element.scrollTop = 0;
    });
    turn.disabled = !isPossible;
    return turn;
  }

  #row(item: Item): HTMLElement {
    const { zone, state } = this.#context;
    const { group } = item;
    const open = addListener(
      h("button", { type: "button", class: "link" }, item.type === "run" ? item.row.name : group.name),
      {
        onclick: () => {
          this.#context.select(item);
          this.#openDetails();
        },
      },
    );
    const slotMs = item.type === "pod" ? undefined : item.row.slotMs;
    const late = latenessMs(item);
    const started =
      item.type === "ghost" ? "" : `${zone.second(item.startMs)}${late > 0 ? ` (${durationText(late)} late)` : ""}`;
    const outcome = itemOutcome(item);
    return h(
      "tr",
      { "aria-selected": item.id === state.selected && "true" },
      h("th", { scope: "row" }, open),
      h("td", {}, group.namespace),
      h("td", {}, slotMs === undefined ? "" : zone.minute(slotMs)),
      h("td", {}, started),
      h("td", {}, item.type === "ghost" ? "" : durationText(item.endMs - item.startMs)),
      h("td", {}, h("span", { class: `look ${item.look}` }, outcome)),
      h("td", {}, item.type === "pod" ? "" : (item.row.reason ?? "")),
    );
  }
}
