import type { ComparisonReport, DifferingGroup } from "../data/report-data.js";
import { App } from "./app.js";
import { button, h, addListener } from "./dom.js";
import { rowId } from "./row-link.js";
import { ZonedTime } from "./zoned-time.js";
import { type PageEnvironment, partTag } from "./page-environment.js";

type View = "differences" | "a" | "b";

const LABELS: Readonly<Record<View, string>> = { differences: "Differences", a: "Run A", b: "Run B" };
const MARKS = { onlyA: "only in A", onlyB: "only in B", different: "different" } as const;

/** Two compared runs: the differences first, then a page for each run. The pages share one time window. */
export class ComparisonPage {
  readonly #environment: PageEnvironment;
  readonly #nav: HTMLElement;
  readonly #report: ComparisonReport;
  readonly #tabs: ReadonlyMap<View, HTMLButtonElement>;
  #app: App | undefined;

  constructor(environment: PageEnvironment, report: ComparisonReport) {
    this.#environment = environment;
    this.#report = report;
    this.#tabs = new Map(
      (["differences", "a", "b"] as const).map((view) => [
        view,
        button(LABELS[view], LABELS[view], () => this.show(view), ""),
      ]),
    );
    this.#nav = h(
      "nav",
      { class: "sides", "aria-label": "What is compared" },
      h("div", { class: "segmented" }, ...this.#tabs.values()),
    );
    const { root } = environment;
    root.before(this.#nav);
    root.parentElement!.classList.add("has-nav");
  }

  /** Removes the elements added beside the root, before another page replaces this one. */
  close(): void {
    this.#app?.close();
    this.#nav.remove();
  }

  show(view: View = "differences"): void {
    this.#app?.writeLink();
    this.#app?.close();
    this.#app = undefined;
    for (const [name, tab] of this.#tabs) tab.setAttribute("aria-pressed", String(name === view));
    if (view === "differences") this.#environment.root.replaceChildren(this.#differences());
    else {
      this.#app = new App(this.#environment, this.#report[view]);
      this.#app.show();
    }
  }

  #differences(): HTMLElement {
    const { titles, totals, groups, equalGroups, untilMs } = this.#report;
    const { a, b, same, different, onlyA, onlyB } = totals;
    const zone = new ZonedTime("UTC");
    return h(
      partTag(this.#environment, "main"),
      { class: "main differences", tabindex: -1 },
      h("h1", {}, groups.length === 0 ? "Both runs do the same" : "What differs"),
      h("p", {}, `A: ${titles.a}`),
      h("p", {}, `B: ${titles.b}`),
      h(
        "p",
        { class: "muted" },
        `${a} runs in A, ${b} in B: ${same} the same, ${different} different, ${onlyA} only in A, ${onlyB} only in B. Times are in UTC.`,
      ),
      untilMs !== undefined &&
        h("p", { class: "muted" }, `Compared up to ${zone.minute(untilMs)}: there are more runs than are kept.`),
      ...groups.map((group) => this.#group(group, zone)),
      equalGroups > 0 && groups.length > 0 && h("p", { class: "muted" }, `${equalGroups} more do the same in both.`),
    );
  }

  #group(group: DifferingGroup, zone: ZonedTime): HTMLElement {
    const { kind, namespace, name, presentIn, changes, differences, unlisted } = group;
    const only = presentIn === "both" ? "" : `, only in ${presentIn.toUpperCase()}`;
    const rows = differences.map((difference) =>
      h(
        "tr",
        { class: difference.type },
        h("th", { scope: "row" }, zone.minute(difference.slotMs)),
        h("td", {}, MARKS[difference.type]),
        ...(["a", "b"] as const).map((side) =>
          h("td", {}, this.#link(difference[side], side, group, difference.slotMs)),
        ),
      ),
    );
    return h(
      "section",
      {},
      h("h2", {}, `${kind} ${namespace}/${name}${only}`),
      changes.length > 0 && h("ul", { class: "changes" }, ...changes.map((change) => h("li", {}, change))),
      rows.length > 0 &&
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ...["Slot", "", "Run A", "Run B"].map((title) =>
                title === "" ? h("td", {}) : h("th", { scope: "col" }, title),
              ),
            ),
          ),
          h("tbody", {}, ...rows),
        ),
      unlisted > 0 && h("p", { class: "muted" }, `and ${unlisted.toLocaleString("en")} more; --json has them all`),
    );
  }

  /** Links to the run on the page of its side, when that page contains it. */
  #link(text: string, side: "a" | "b", group: DifferingGroup, slotMs: number): HTMLElement {
    const id = rowId(this.#report[side], group, slotMs);
    if (id === undefined) return h("span", { class: "muted" }, text);
    return addListener(h("button", { type: "button", class: "link" }, text), {
      onclick: () => {
        const link = new URLSearchParams({ selected: id, cursor: String(slotMs) });
        this.#environment.address.replace(link.toString());
        this.show(side);
      },
    });
  }
}
