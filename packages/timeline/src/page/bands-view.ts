import { scaleLinear } from "d3-scale";

import type { LoadBand, LoadOverTime, LoadOverTimeOf } from "../data/futures-report.js";
import type { Moment } from "../data/figure-table.js";
import { h, addListener } from "./dom.js";
import { durationText } from "./duration-text.js";
import { type LevelKind, levelText } from "./level-text.js";
import { svg } from "./svg.js";
import { type TimeScale, timeAt, xOf } from "./time-scale.js";
import { timeTicks } from "./time-ticks.js";
import { ZonedTime } from "./zoned-time.js";

interface Panel {
  readonly title: string;
  readonly kind: LevelKind;
  readonly of: (group: LoadOverTimeOf) => LoadBand;
}

const PANELS: readonly Panel[] = [
  { title: "Concurrent pods", kind: "count", of: ({ pods }) => pods },
  { title: "CPU requested", kind: "cpu", of: ({ cpuMillis }) => cpuMillis },
  { title: "Memory requested", kind: "memory", of: ({ memoryBytes }) => memoryBytes },
];
const AXIS = 38;
const PANEL = { height: 132, top: 22, gap: 14 };
const LEFT = 8;

/**
 * Concurrent load over time across many futures. Bands show the level in half of the futures, in 95 of 100, and the
 * maximum.
 */
export class BandsView {
  readonly element: HTMLElement;
  readonly #load: LoadOverTime;
  readonly #open: (moment: Moment) => void;
  readonly #chart = svg("svg", { class: "bands-chart", "aria-hidden": "true" });
  readonly #slider: HTMLElement;
  readonly #readout = h("p", { class: "readout" });
  readonly #zone = new ZonedTime("UTC");
  #group: LoadOverTimeOf;
  #step: number | undefined;
  #width = 0;

  constructor(load: LoadOverTime, open: (moment: Moment) => void) {
    this.#load = load;
    this.#open = open;
    this.#group = load.groups[0]!;
    this.#slider = addListener(
      h("div", {
        class: "bands-box",
        role: "slider",
        tabindex: 0,
        "aria-label": "Concurrency over time",
        "aria-valuemin": 0,
        "aria-valuemax": this.#steps - 1,
      }),
      {
        onpointermove: (event) => this.#pointAt(this.#stepAt(event)),
        onpointerleave: () => this.#pointAt(undefined),
        onclick: (event) => this.#openStep(this.#stepAt(event), this.#panelAt(event)),
        onkeydown: (event) => this.#pressed(event),
      },
    );
    this.#slider.append(this.#chart);
    const select = addListener(
      h(
        "select",
        { "aria-label": "Of which CronJob or Job" },
        ...load.groups.map((group, index) => h("option", { value: index }, groupText(group))),
      ),
      {
        onchange: () => {
          this.#group = load.groups[Number(select.value)]!;
          this.#draw();
        },
      },
    );
    select.hidden = load.groups.length < 2;
    this.element = h(
      "section",
      { class: "figures bands" },
      h("h2", {}, "Concurrency over time"),
      h(
        "p",
        { class: "muted" },
        `Peak in each ${durationText(load.stepMs)}, over all futures. Times are in UTC.${load.omittedGroups > 0 ? ` ${load.omittedGroups.toLocaleString("en")} more CronJobs and Jobs have no bands of their own.` : ""}`,
      ),
      h(
        "div",
        { class: "bands-legend" },
        select,
        ...(["p50", "p95", "max"] as const).map((kind) =>
          h(
            "span",
            { class: `key ${kind}` },
            { p50: "half of the futures", p95: "95 of 100", max: "the most in any" }[kind],
          ),
        ),
      ),
      this.#slider,
      this.#readout,
    );
    new ResizeObserver(() => this.#measure()).observe(this.#slider);
    this.#pointAt(undefined);
  }

  get #steps(): number {
    return this.#group.pods.max.length;
  }

  get #panels(): readonly Panel[] {
    const [pods, ...others] = PANELS;
    return [pods!, ...others.filter(({ of }) => of(this.#group).max.some((level) => level > 0))];
  }

  get #scale(): TimeScale {
    const { fromMs, stepMs } = this.#load;
    return { fromMs, toMs: fromMs + this.#steps * stepMs, width: this.#width - LEFT };
  }

  #measure(): void {
    const width = this.#slider.clientWidth;
    if (width === this.#width || width === 0) return;
    this.#width = width;
    this.#draw();
  }

  #draw(): void {
    const panels = this.#panels;
    const height = AXIS + panels.length * (PANEL.height + PANEL.gap);
    const { width } = this.#scale;
    this.#chart.setAttribute("width", String(this.#width));
    this.#chart.setAttribute("height", String(height));
    this.#chart.setAttribute("viewBox", `${-LEFT} 0 ${this.#width} ${height}`);
    this.#chart.replaceChildren(
      this.#axis(height),
      ...panels.map((panel, index) => this.#panel(panel, AXIS + index * (PANEL.height + PANEL.gap), width)),
      svg("line", { class: "pointer", x1: 0, x2: 0, y1: AXIS - 6, y2: height - PANEL.gap, visibility: "hidden" }),
    );
    this.#point();
  }

  #axis(height: number): SVGGElement {
    const scale = this.#scale;
    const { fine, coarse } = timeTicks(scale, this.#zone);
    let free = Number.NEGATIVE_INFINITY;
    return svg(
      "g",
      { class: "ticks" },
      ...fine.flatMap(({ atMs, label }) => {
        const x = xOf(scale, atMs);
        if (x < 0 || x > scale.width) return [];
        const grid = svg("line", { x1: x, x2: x, y1: AXIS - 4, y2: height - PANEL.gap });
        // A centered label needs space on both sides.
        return x < 16 || x > scale.width - 16
          ? [grid]
          : [grid, svg("text", { x, y: AXIS - 9, "text-anchor": "middle" }, label)];
      }),
      ...coarse.flatMap(({ atMs, label }) => {
        const x = Math.max(0, xOf(scale, atMs));
        const hasRoom = x >= free && x + label.length * 7 <= scale.width;
        if (hasRoom) free = x + label.length * 7 + 10;
        return hasRoom ? [svg("text", { class: "coarse", x, y: 12 }, label)] : [];
      }),
    );
  }

  #panel({ title, kind, of }: Panel, top: number, width: number): SVGGElement {
    const { p50, p95, max } = of(this.#group);
    const highest = max.reduce((a, b) => Math.max(a, b), 1);
    const y = scaleLinear([0, highest], [top + PANEL.height, top + PANEL.top]);
    const ticks = y.ticks(3).filter((tick) => tick > 0 && (kind !== "count" || Number.isInteger(tick)));
    const stairs = (levels: readonly number[]): string =>
      levels.map((level, step) => `V${y(level).toFixed(1)}H${this.#x(step + 1).toFixed(1)}`).join("");
    const area = (levels: readonly number[]): string => `M0,${y(0)}${stairs(levels)}V${y(0)}Z`;
    return svg(
      "g",
      { class: "panel" },
      svg("text", { class: "title", x: 0, y: top + 12 }, title),
      svg("path", { class: "area max", d: area(max) }),
      svg("path", { class: "area p95", d: area(p95) }),
      svg("path", { class: "area p50", d: area(p50) }),
      svg("path", { class: "edge", d: `M0,${y(0)}${stairs(max)}` }),
      ...[0, ...ticks].map((tick) => svg("line", { class: "level", x1: 0, x2: width, y1: y(tick), y2: y(tick) })),
      ...ticks.map((tick) =>
        svg("text", { class: "level", x: width - 2, y: y(tick) - 3, "text-anchor": "end" }, levelText(kind, tick)),
      ),
    );
  }

  #x(step: number): number {
    return (step / this.#steps) * this.#scale.width;
  }

  #stepAt({ clientX }: MouseEvent): number {
    const x = clientX - this.#slider.getBoundingClientRect().left - LEFT;
    const atMs = timeAt(this.#scale, x);
    const { fromMs, stepMs } = this.#load;
    return Math.max(0, Math.min(this.#steps - 1, Math.floor((atMs - fromMs) / stepMs)));
  }

  #panelAt({ clientY }: MouseEvent): Panel {
    const y = clientY - this.#slider.getBoundingClientRect().top - AXIS;
    const panels = this.#panels;
    return panels[Math.max(0, Math.min(panels.length - 1, Math.floor(y / (PANEL.height + PANEL.gap))))]!;
  }

  #pointAt(step: number | undefined): void {
    this.#step = step;
    this.#point();
    this.#readout.textContent =
      step === undefined
        ? "A click, or Enter, opens the future that has the most at that time."
        : this.#panels.map((panel) => this.#levelsText(panel, step)).join("; ");
    const { fromMs, stepMs } = this.#load;
    const from = fromMs + (step ?? 0) * stepMs;
    const when = `${this.#zone.minute(from)} to ${this.#zone.minute(from + stepMs).slice(11)}`;
    if (step !== undefined) this.#readout.prepend(h("strong", {}, when), " ");
    this.#slider.setAttribute("aria-valuenow", String(step ?? 0));
    this.#slider.setAttribute("aria-valuetext", step === undefined ? when : (this.#readout.textContent ?? ""));
  }

  #point(): void {
    const pointer = this.#chart.querySelector(".pointer");
    if (pointer === null) return;
    pointer.setAttribute("visibility", this.#step === undefined ? "hidden" : "visible");
    if (this.#step === undefined) return;
    const x = String(this.#x(this.#step + 0.5));
    pointer.setAttribute("x1", x);
    pointer.setAttribute("x2", x);
  }

  #levelsText({ title, kind, of }: Panel, step: number): string {
    const { p50, p95, max, seeds } = of(this.#group);
    const level = (levels: readonly number[]): string => levelText(kind, levels[step]!);
    const seed = max[step]! > 0 ? ` (seed ${seeds[step]!})` : "";
    return `${title}: ${level(p50)} in half of the futures, ${level(p95)} in 95 of 100, at most ${level(max)}${seed}`;
  }

  #openStep(step: number, { of }: Panel): void {
    const { max, seeds } = of(this.#group);
    if ((max[step] ?? 0) <= 0) return;
    const { object } = this.#group;
    this.#open({
      seed: seeds[step]!,
      at: this.#load.fromMs + step * this.#load.stepMs,
      ...(object === undefined ? {} : { object }),
    });
  }

  #pressed(event: KeyboardEvent): void {
    const step = this.#step ?? 0;
    const last = this.#steps - 1;
    const to: Readonly<Record<string, number>> = {
      ArrowLeft: Math.max(0, step - 1),
      ArrowDown: Math.max(0, step - 1),
      ArrowRight: this.#step === undefined ? 0 : Math.min(last, step + 1),
      ArrowUp: this.#step === undefined ? 0 : Math.min(last, step + 1),
      PageDown: Math.max(0, step - 20),
      PageUp: Math.min(last, step + 20),
      Home: 0,
      End: last,
    };
    const next = to[event.key];
    if (event.key === "Enter") this.#openStep(step, this.#panels[0]!);
    else if (next !== undefined) this.#pointAt(next);
    else return;
    event.preventDefault();
  }
}

function groupText({ object }: LoadOverTimeOf): string {
  return object === undefined ? "All together" : `${object.kind} ${object.namespace}/${object.name}`;
}
