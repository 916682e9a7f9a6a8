import type { ComparisonReport, DifferingGroup } from "../data/report-data.js";
import { App } from "./app.js";
import { ComparisonLanes, type ComparisonTarget } from "./comparison-lanes.js";
import { button, h, addListener } from "./dom.js";
import { currentTheme, overview } from "./overview.js";
import { readPalette } from "./palette.js";
import { rowId } from "./row-link.js";
import { ZonedTime } from "./zoned-time.js";
import type { PageEnvironment } from "./page-environment.js";
import type { ViewState } from "./view-state.js";

type View = "differences" | "a" | "b";

const LABELS: Readonly<Record<View, string>> = { differences: "Differences", a: "Run A", b: "Run B" };
const MARKS = { onlyA: "only in A", onlyB: "only in B", different: "different" } as const;

/** Maximum number of CronJobs and Jobs with lanes; the tables of the others suffice. */
const MAX_LANES = 60;

/** Two compared runs: the differences first, then a page for each run. The pages share one time window. */
export class ComparisonPage {
  readonly #environment: PageEnvironment;
  readonly #nav: HTMLElement;
  readonly #report: ComparisonReport;
  readonly #tabs: ReadonlyMap<View, HTMLButtonElement>;
  #app: App | undefined;
  readonly #unit = h("p", { class: "muted" });
  /** Ends the observation of the size and the theme of the differences. */
  #unobserve: (() => void) | undefined;

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
    this.#unobserve?.();
    this.#app?.close();
    this.#nav.remove();
  }

  show(view: View = "differences"): void {
    this.#app?.writeLink();
    this.#app?.close();
    this.#app = undefined;
    for (const [name, tab] of this.#tabs) tab.setAttribute("aria-pressed", String(name === view));
    const { root } = this.#environment;
    this.#unobserve?.();
    this.#unobserve = undefined;
    root.classList.toggle("one-column", view === "differences");
    if (view === "differences") this.#showDifferences();
    else {
      const theme = currentTheme(this.#environment) as ViewState["theme"];
      this.#app = new App(this.#environment, this.#report[view], {}, { theme });
      this.#app.show();
    }
  }

  #showDifferences(): void {
    const environment = this.#environment;
    const { root, themed } = environment;
    const { a } = this.#report;
    const zone = new ZonedTime("UTC");
    const facts = [
      `${zone.minute(a.startMs)} to ${zone.minute(a.endMs)}`,
      `seed ${a.seed}`,
      `Kubernetes ${a.kubernetes}`,
    ];
    const lanes: ComparisonLanes[] = [];
    root.replaceChildren(...overview(environment, "What differs", facts, this.#differences(zone, lanes)));
    const draw = (): void => {
      const palette = readPalette(root);
      const units = lanes.map((each) => each.draw(palette)).filter((unit) => unit !== undefined);
      this.#unit.textContent = units.length === 0 ? "" : `Numbers in the lanes are runs per ${units[0]}.`;
    };
    draw();
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const closed = new AbortController();
    dark.addEventListener("change", draw, { signal: closed.signal });
    themed.addEventListener("transitionrun", draw, { signal: closed.signal });
    const themes = new MutationObserver(draw);
    themes.observe(themed, { attributes: true, attributeFilter: ["data-theme"] });
    const sizes = new ResizeObserver(draw);
    sizes.observe(root);
    this.#unobserve = () => {
      closed.abort();
      themes.disconnect();
      sizes.disconnect();
    };
  }

  /** @param lanes - Receives the lanes, which are drawn once they are in the document. */
  #differences(zone: ZonedTime, lanes: ComparisonLanes[]): HTMLElement {
    const { titles, totals, groups, equalGroups, untilMs } = this.#report;
    const { a, b, same, different, onlyA, onlyB } = totals;
    return h(
      "div",
      { class: "differences" },
      h("h1", {}, groups.length === 0 ? "Both runs do the same" : "What differs"),
      h("p", {}, `A: ${titles.a}`),
      h("p", {}, `B: ${titles.b}`),
      h(
        "p",
        { class: "muted" },
        `${a} runs in A, ${b} in B: ${same} the same, ${different} different, ${onlyA} only in A, ${onlyB} only in B. Times are in UTC.`,
      ),
      this.#unit,
      untilMs !== undefined &&
        h("p", { class: "muted" }, `Compared up to ${zone.minute(untilMs)}: there are more runs than are kept.`),
      ...groups.map((group, index) => {
        const shown =
          index < MAX_LANES
            ? new ComparisonLanes(this.#report, group, zone, (target) => this.#open(target))
            : undefined;
        if (shown !== undefined) lanes.push(shown);
        return this.#group(group, zone, shown?.element);
      }),
      equalGroups > 0 && groups.length > 0 && h("p", { class: "muted" }, `${equalGroups} more do the same in both.`),
    );
  }

  #group(group: DifferingGroup, zone: ZonedTime, lanes: HTMLElement | undefined): HTMLElement {
    const { kind, namespace, name, presentIn, changes, differences, unlisted } = group;
    const only = presentIn === "both" ? "" : `, only in ${presentIn.toUpperCase()}`;
    const rows = differences.map((difference) =>
      h(
        "tr",
        { class: difference.type },
        h("th", { scope: "row" }, ...slotsText(difference, zone)),
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
      lanes,
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

  /** Shows what was clicked, on the page of its side. */
  #open({ side, item, fromMs, toMs }: ComparisonTarget): void {
    const link = new URLSearchParams(
      item === undefined ? { range: `${fromMs}_${toMs}` } : { selected: item.id, cursor: String(fromMs) },
    );
    this.#environment.address.replace(link.toString());
    this.show(side);
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

/** Returns the slot; for a difference that recurs its number, its interval, the first and the last slot. */
function slotsText(
  { slotMs, repeated }: DifferingGroup["differences"][number],
  zone: ZonedTime,
): readonly (HTMLElement | string)[] {
  if (repeated === undefined) return [zone.minute(slotMs)];
  const { count, lastMs, every } = repeated;
  return [
    `${count.toLocaleString("en")} slots${every === undefined ? "" : `, ${every}`}`,
    h("div", { class: "muted" }, `${zone.minute(slotMs)} to ${zone.minute(lastMs)}`),
  ];
}
