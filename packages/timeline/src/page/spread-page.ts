import type { LoadMaps, LoadRow, SpreadMeasure, SpreadReport } from "../data/spread-report.js";
import { button, h } from "./dom.js";
import { durationText } from "./duration-text.js";
import { figureTableView } from "./figure-table-view.js";
import { HeatMapView } from "./heat-map-view.js";
import { type LevelKind, levelText } from "./level-text.js";
import { overview } from "./overview.js";
import { ZonedTime } from "./zoned-time.js";
import type { PageEnvironment } from "./page-environment.js";

const KINDS: Readonly<Record<SpreadMeasure["name"], LevelKind>> = {
  starts: "count",
  pods: "count",
  cpu: "cpu",
  memory: "memory",
};

interface MapKind {
  readonly title: string;
  readonly rows: (maps: LoadMaps) => readonly LoadRow[];
  readonly ruler: (column: number) => string | undefined;
  /** Returns the description of a cell. */
  readonly cell: (row: LoadRow, column: number) => string;
}

const two = (number: number): string => String(number).padStart(2, "0");
const everyTen = (column: number): string | undefined => (column % 10 === 0 ? `:${two(column)}` : undefined);

const MAPS: readonly MapKind[] = [
  {
    title: "By minute of the hour",
    rows: ({ byMinuteOfHour }) => [{ label: "any hour", levels: byMinuteOfHour }],
    ruler: everyTen,
    cell: (_row, column) => `:${two(column)} of any hour`,
  },
  {
    title: "By hour of the day and minute",
    rows: ({ byHour }) => byHour,
    ruler: everyTen,
    cell: ({ label }, column) => `${label.slice(0, 2)}:${two(column)}`,
  },
  {
    title: "By day and hour",
    rows: ({ byDay }) => byDay,
    ruler: (column) => (column % 6 === 0 ? `${two(column)}:00` : undefined),
    cell: ({ label }, column) => `${label} ${two(column)}:00 to ${two(column + 1)}:00`,
  },
];

/** The load of CronJobs on the cluster over time, with the present and the proposed schedules. */
export class SpreadPage {
  readonly #environment: PageEnvironment;
  readonly #report: SpreadReport;
  readonly #maps = h("div", { class: "maps" });
  readonly #buttons: ReadonlyMap<SpreadMeasure, HTMLButtonElement>;

  constructor(environment: PageEnvironment, report: SpreadReport) {
    this.#environment = environment;
    this.#report = report;
    this.#buttons = new Map(
      report.measures.map((measure) => [
        measure,
        button(measure.title, measure.title, () => this.#showMeasure(measure), ""),
      ]),
    );
  }

  show(): void {
    const { startMs, endMs, tables, measures } = this.#report;
    const zone = new ZonedTime("UTC");
    const { root } = this.#environment;
    root.classList.add("one-column");
    root.replaceChildren(
      ...overview(
        this.#environment,
        "Load",
        [`${zone.minute(startMs)} to ${zone.minute(endMs)}`, durationText(endMs - startMs)],
        h("h1", {}, "When CronJobs load the cluster"),
        h("p", { class: "lead" }, leadOf(this.#report)),
        h(
          "div",
          { class: "segmented measures", role: "group", "aria-label": "What to show" },
          ...this.#buttons.values(),
        ),
        this.#maps,
        ...tables.map((table) => figureTableView(table)),
      ),
    );
    const shown = measures.find(({ name }) => name === "pods") ?? measures[0];
    if (shown !== undefined) this.#showMeasure(shown);
  }

  #showMeasure(measure: SpreadMeasure): void {
    for (const [each, shown] of this.#buttons) shown.setAttribute("aria-pressed", String(each === measure));
    this.#maps.replaceChildren(
      ...MAPS.filter(({ rows }) => rows(measure.before).length > 0).map((kind) => this.#map(kind, measure)),
    );
  }

  #map({ title, rows, ruler, cell }: MapKind, measure: SpreadMeasure): HTMLElement {
    const kind = KINDS[measure.name];
    const sides: readonly Side[] = [
      { name: measure.after === undefined ? measure.title : "Before", rows: rows(measure.before) },
      ...(measure.after === undefined ? [] : [{ name: "After", rows: rows(measure.after) }]),
    ];
    const max = Math.max(...sides.flatMap((side) => side.rows.flatMap(({ levels }) => levels)));
    const rest = `${measure.title}, the most in each cell; the strongest shade is ${levelText(kind, max)}. Times are in UTC.`;
    const readout = h("p", { class: "readout" }, rest);
    const views = sides.map(
      (side) =>
        new HeatMapView(side.rows, {
          title: side.name,
          kind,
          max,
          ruler,
          onPoint: (at) => {
            if (at === undefined) return readout.replaceChildren(rest);
            const levels = sides.map(
              ({ name, rows: all }) => `${name}: ${levelText(kind, all[at.row]?.levels[at.column] ?? 0)}`,
            );
            readout.replaceChildren(h("strong", {}, cell(side.rows[at.row]!, at.column)), ` ${levels.join(", ")}`);
          },
        }),
    );
    const left = title === "By day and hour" ? this.#report.daysLeft : 0;
    return h(
      "section",
      { class: "figures" },
      h("h2", {}, title),
      h("div", { class: "side-by-side" }, ...views.map(({ element }) => element)),
      readout,
      asNumbers(kind, sides, cell),
      left > 0 && h("p", { class: "muted" }, `and ${left.toLocaleString("en")} more days`),
    );
  }
}

interface Side {
  readonly name: string;
  readonly rows: readonly LoadRow[];
}

/** Renders the maps as numbers, for screen readers: the maximum of each row and its position. */
function asNumbers(kind: LevelKind, sides: readonly Side[], cell: MapKind["cell"]): HTMLElement {
  const first = sides[0]!.rows;
  return h(
    "details",
    {},
    h("summary", {}, "As numbers"),
    figureTableView({
      title: "The most in each row",
      head: ["", ...sides.flatMap(({ name }) => [name, "first at"])],
      rows: first.map(({ label }, index) => [
        label,
        ...sides.flatMap(({ rows }) => {
          const row = rows[index]!;
          const max = Math.max(...row.levels);
          return max === 0 ? ["–", "–"] : [levelText(kind, max), cell(row, row.levels.indexOf(max))];
        }),
      ]),
    }),
  );
}

function leadOf({ cronJobs, changes, peakPods: { before, after } }: SpreadReport): string {
  const jobs = `${cronJobs.toLocaleString("en")} ${cronJobs === 1 ? "CronJob" : "CronJobs"}`;
  const pods = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "pod" : "pods"}`;
  return changes === 0
    ? `${jobs}, at most ${pods(before)} at the same time. No schedule needs to move.`
    : `${jobs}, at most ${pods(before)} at the same time. With new minutes for ${changes.toLocaleString("en")} of them: ${pods(after)}.`;
}
