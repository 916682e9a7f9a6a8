import type { Look, RecordedRun, Step } from "../../data/recorded-run.js";
import { sinceText } from "../../data/since-text.js";
import { h, addListener } from "../dom.js";
import { svg } from "../svg.js";
import { type CachedVersions, type StalenessSpan, stalenessSpans } from "./cached-versions.js";
import { type RunLane, laneOf } from "./run-lanes.js";
import { StepScale } from "./step-scale.js";
import { focusedBeside } from "../page-environment.js";

const AXIS = 24;
const ROW = 26;
const BAR = 16;
/** Minimum space between two times on the axis, in pixels. */
const SPACE = 12;
/** Maximum width of a character, in pixels. */
const CHARACTER = 6.6;
/** Maximum number of rows of scenario events. The details of a step list the others. */
const MAX_ROWS = 8;
/** Minimum idle time that is drawn as a gap. */
const IDLE_MS = 1_000;

export interface RunLanesInput {
  readonly run: RecordedRun;
  readonly cachedVersions: CachedVersions;
  readonly lanes: readonly RunLane[];
  /** Displayed steps. */
  readonly steps: readonly number[];
  /** The object whose versions are displayed. */
  readonly object: number | undefined;
}

interface PlacedScenarioEvent {
  readonly label: string;
  readonly x: number;
  readonly width: number;
  readonly textX: number;
  readonly row: number;
}

/** The timeline of the run: a row for each cache, deciding controller and writer, and a column for each step. */
export class RunLanesView {
  readonly element: HTMLElement;
  readonly #box: HTMLElement;
  readonly #cursor = svg("rect", { class: "cursor", y: 0, width: 15, rx: 3 });
  readonly #scale: StepScale;
  readonly #scenarioEvents: readonly PlacedScenarioEvent[];

  constructor(input: RunLanesInput, onStep: (place: number) => void) {
    const { run, lanes, steps } = input;
    this.#scale = new StepScale(steps, (step) => run.steps[step]!.atMs);
    this.#scenarioEvents = this.#packed(run);
    const rowsOf = ({ kind }: RunLane): number =>
      kind === "events" ? Math.max(1, ...this.#scenarioEvents.map(({ row }) => row + 1)) : 1;
    const tops = new Map<RunLane, number>();
    let y = AXIS;
    for (const lane of lanes) {
      if (lane.begins !== undefined) y += ROW;
      tops.set(lane, y);
      y += ROW * rowsOf(lane);
    }
    const height = y + 4;
    this.#cursor.setAttribute("height", String(height));
    const drawing = svg(
      "svg",
      { class: "run-chart", width: this.#scale.width, height, "aria-hidden": "true" },
      hatch(),
      ...this.#idle(input, height),
      this.#cursor,
      ...lanes.flatMap((lane) => [
        svg("line", { class: "rule", x1: 0, x2: this.#scale.width, y1: tops.get(lane)!, y2: tops.get(lane)! }),
        ...this.#bars(lane, tops.get(lane)!, input),
      ]),
      ...this.#marks(input, tops, height),
      ...this.#axis(input),
    );
    this.#box = addListener(
      h("div", {
        class: "run-box",
        role: "region",
        "aria-label": "Timeline, drawn; arrow keys go step by step",
        tabindex: 0,
      }),
      {
        onclick: (event) => onStep(this.#scale.placeAt(event.clientX - drawing.getBoundingClientRect().left)),
      },
    );
    this.#box.append(drawing);
    this.element = h(
      "div",
      { class: "run-lanes" },
      h(
        "div",
        { class: "run-labels", "aria-hidden": "true" },
        ...lanes.flatMap((lane) => labels(lane, rowsOf(lane), input)),
      ),
      this.#box,
    );
  }

  /** Marks the current step and scrolls it into view. */
  show(place: number): void {
    const x = this.#scale.middle(place);
    this.#cursor.setAttribute("x", String(x - 7.5));
    const { scrollLeft, clientWidth } = this.#box;
    if (x < scrollLeft + 80 || x > scrollLeft + clientWidth - 80) this.#box.scrollLeft = x - clientWidth / 2;
  }

  /** Scroll position, restored when this view replaces another. */
  get scrollLeft(): number {
    return this.#box.scrollLeft;
  }

  set scrollLeft(left: number) {
    this.#box.scrollLeft = left;
  }

  get hadFocus(): boolean {
    return this.#box.contains(focusedBeside(this.#box));
  }

  focus(): void {
    this.#box.focus({ preventScroll: true });
  }

  #idle({ run, steps }: RunLanesInput, height: number): SVGElement[] {
    return steps.flatMap((step, place) => {
      const before = place === 0 ? undefined : run.steps[steps[place - 1]!]!.atMs;
      if (before === undefined || run.steps[step]!.atMs - before < IDLE_MS) return [];
      const [from, to] = [this.#scale.middle(place - 1) + 8, this.#scale.middle(place) - 8];
      return svg("rect", { class: "idle", x: from, width: Math.max(1, to - from), y: AXIS - 6, height: height - AXIS });
    });
  }

  #axis({ run, steps }: RunLanesInput): SVGElement[] {
    const found: SVGElement[] = [];
    let free = 0;
    for (const [place, step] of steps.entries()) {
      const { atMs } = run.steps[step]!;
      if (place > 0 && run.steps[steps[place - 1]!]!.atMs === atMs) continue;
      const x = this.#scale.middle(place);
      found.push(svg("line", { class: "tick", x1: x, x2: x, y1: AXIS - 6, y2: AXIS }));
      if (x < free) continue;
      const text = sinceText(atMs, run.startMs);
      free = x + text.length * CHARACTER + SPACE;
      found.push(svg("text", { class: "time", x: x - 3, y: AXIS - 10 }, text));
    }
    return found;
  }

  #bars(lane: RunLane, top: number, input: RunLanesInput): SVGElement[] {
    const { run, cachedVersions, object } = input;
    if (lane.kind === "events")
      return this.#scenarioEvents.flatMap(({ label, x, width, textX, row }) => [
        svg("rect", { class: "scenario-event", x, y: top + row * ROW + 5, width, height: BAR, rx: 3 }, title(label)),
        svg("text", { class: "on-scenario-event", x: textX, y: top + row * ROW + 17 }, label),
      ]);
    if (object === undefined || (lane.kind !== "stored" && lane.kind !== "cache")) return [];
    const stored = cachedVersions.stored(object);
    const { name, versions, resource } = run.objects[object]!;
    if (lane.kind === "cache" && !cachedVersions.caches(lane.actor!, resource)) return [];
    const shown = lane.kind === "stored" ? stored : cachedVersions.cached(lane.actor!, object);
    const begins = lane.kind === "cache" ? cachedVersions.startSteps(lane.actor!) : 0;
    const what = ({ version }: StalenessSpan): string =>
      version === undefined ? "none" : `v${versions[version]!.resourceVersion}`;
    return stalenessSpans(shown, stored, run.steps.length).flatMap((span) => {
      const { from, to, version, isStale } = span;
      // Nothing is drawn where no version is cached and none is stored.
      if (version === undefined && !isStale) return [];
      const x = this.#scale.begin(version === undefined && lane.kind === "cache" ? Math.max(from, begins) : from);
      const width = this.#scale.begin(to) - x;
      if (width <= 0) return [];
      const text = `${what(span)}${isStale ? ", stale" : ""}`;
      const full = `${name}: ${text}`;
      const kind = isStale ? "stale" : lane.kind === "stored" ? "is-stored" : "fresh";
      const bar = { x: x + 0.5, y: top + 5, width: Math.max(1, width - 1), height: BAR, rx: 3 };
      return [
        svg("rect", { class: `span ${kind}`, ...bar }, title(full)),
        ...(isStale ? [svg("rect", { class: "hatch", ...bar, fill: "url(#stale)" })] : []),
        ...(width > 7 * text.length + 8 ? [svg("text", { class: `on-${kind}`, x: x + 5, y: top + 17 }, text)] : []),
      ];
    });
  }

  /** Places scenario events that do not overlap in the same row. */
  #packed({ scenarioEvents }: RecordedRun): PlacedScenarioEvent[] {
    const free: number[] = [];
    const placed = scenarioEvents.map(({ label, from, to, isOngoingAtEnd }) => {
      const x = this.#scale.begin(from);
      const end = isOngoingAtEnd ? (to === undefined ? this.#scale.width : this.#scale.begin(to) + 15) : x + 15;
      const textX = isOngoingAtEnd ? x + 6 : end + 4;
      const found = free.findIndex((left) => left <= x);
      const row = found === -1 ? free.length : found;
      free[row] = Math.max(end, textX + label.length * CHARACTER) + SPACE;
      return { label, x, width: Math.max(4, end - x), textX, row };
    });
    return placed.filter(({ row }) => row < MAX_ROWS);
  }

  #marks({ run, lanes, steps }: RunLanesInput, tops: ReadonlyMap<RunLane, number>, height: number): SVGElement[] {
    const places = new Map(lanes.map((lane) => [`${lane.kind} ${lane.actor ?? ""}`, tops.get(lane)!]));
    return steps.flatMap((index, place) => {
      const step = run.steps[index]!;
      const x = this.#scale.middle(place);
      if (step.kind === "violation")
        return [
          svg("line", { class: "violation", x1: x, x2: x, y1: AXIS - 4, y2: height }),
          svg("path", { class: "violation mark", d: `M${x - 6} ${AXIS - 6}h12l-6 9z` }, title(step.text)),
        ];
      // Cached objects are drawn as versions; other objects get a dot.
      const top = places.get(laneOf(step));
      if (top === undefined || step.kind === "scenarioEvent") return [];
      if (step.kind === "cache")
        return [svg("circle", { class: "heard", cx: x, cy: top + ROW - 3, r: 1.8 }, title(step.text))];
      return [mark(step.look, x, top + ROW / 2, titleOf(step))];
    });
  }
}

function labels({ begins, label, kind }: RunLane, rows: number, { run, object }: RunLanesInput): HTMLElement[] {
  const of = object === undefined ? "" : `: ${run.objects[object]!.name}`;
  const text = kind === "stored" ? `stored${of}` : kind === "cache" ? `${label}${of}` : label;
  return [
    ...(begins === undefined ? [] : [h("div", { class: "group", title: begins }, begins)]),
    ...Array.from({ length: rows }, (_, row) => h("div", { title: text }, row === 0 ? text : "")),
  ];
}

function titleOf({ text, more }: Step): string {
  return more === undefined ? text : `${text}: ${more}`;
}

function title(text: string): SVGTitleElement {
  return svg("title", {}, text);
}

/** Draws the symbol of a step. Symbols are distinguishable without colors. */
export function mark(look: Look, x: number, y: number, text: string): SVGElement {
  const path = (d: string): SVGElement => svg("path", { class: `mark ${look}`, d }, title(text));
  switch (look) {
    case "added":
      return path(`M${x - 5} ${y}h10M${x} ${y - 5}v10`);
    case "deleted":
      return path(`M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`);
    case "modified":
    case "plain":
      return svg("circle", { class: `mark ${look}`, cx: x, cy: y, r: 4 }, title(text));
    case "acts":
    case "rests":
      return path(`M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`);
    case "done":
      return path(`M${x - 4} ${y - 4}h8v8h-8z`);
    case "refused":
      return path(`M${x - 4.5} ${y - 4.5}h9v9h-9zM${x - 4.5} ${y - 4.5}l9 9`);
    case "false":
    case "lost":
      return path(`M${x} ${y - 5.5}l6 10.5h-12z`);
    case "wrong":
      return path(`M${x - 6} ${y - 5}h12l-6 10z`);
    default:
      return look satisfies never;
  }
}

function hatch(): SVGElement {
  return svg(
    "defs",
    {},
    svg(
      "pattern",
      { id: "stale", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { class: "hatch-line", width: 2.4, height: 7 }),
    ),
  );
}
