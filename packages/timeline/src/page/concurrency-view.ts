import { scaleLinear } from "d3-scale";

import type { ConcurrencySteps, Levels } from "../data/concurrency-steps.js";
import { fitCanvas, h } from "./dom.js";
import { lowerBound } from "./lane.js";
import type { PageContext } from "./page-context.js";
import type { Palette } from "./palette.js";
import { isFiltering } from "./scene.js";
import { type TimeScale, roundStep, xOf } from "./time-scale.js";

const HEIGHT = 136;
/** Height of the plot when there is one pod at most, and of its line. */
const SPARKLINE = { height: 30, top: 10, bottom: 22 };
/** Pods above, CPU below, each with its own scale. */
const PODS = { top: 10, bottom: 90 };
const CPU = { top: 104, bottom: 132 };
/** Minimum width of a step of the curves. Narrower steps show every peak as a comb. */
const STEP_PX = 3;

/**
 * Numbers of running and waiting pods and their requested CPU over time. Shows where many pods start at the same time.
 */
export class ConcurrencyView {
  readonly canvas = h("canvas", {
    class: "concurrency",
    role: "img",
    "aria-label": "Pods and requested CPU over time",
  });
  readonly legend = h("div", { class: "concurrency-legend" });

  render(scale: TimeScale, context: PageContext, atMs: number | undefined): void {
    const { concurrency } = context.data;
    const { palette } = context;
    const isSparkline = concurrency.pods.peak.every((level) => level <= 1);
    this.legend.classList.toggle("sparkline", isSparkline);
    if (isSparkline) return this.#sparkline(scale, context, atMs ?? context.state.cursorMs);
    const drawing = fitCanvas(this.canvas, scale.width, HEIGHT);
    const total = peaks(concurrency, concurrency.pods, scale);
    const running = peaks(concurrency, concurrency.running, scale);
    const cpu = peaks(concurrency, concurrency.cpuMillis, scale);
    const peakLevels = {
      pods: max(total),
      running: max(running),
      waiting: max(peaks(concurrency, concurrency.waiting, scale)),
      cpuMillis: max(cpu),
    };
    const pods = scaleLinear([0, Math.max(1, peakLevels.pods)], [PODS.bottom, PODS.top]);
    const cores = scaleLinear([0, Math.max(1, peakLevels.cpuMillis)], [CPU.bottom, CPU.top]);
    const ticks = pods.ticks(3).filter((tick) => Number.isInteger(tick) && tick > 0);
    drawing.fillStyle = palette.line;
    for (const tick of [0, ...ticks]) drawing.fillRect(0, Math.round(pods(tick)), scale.width, 1);
    drawing.fillStyle = palette.waitingBand;
    area(drawing, total, pods, PODS.bottom);
    // The running pods cover the lower part of the area; the part above them shows waiting pods.
    drawing.fillStyle = palette.runningBand;
    area(drawing, running, pods, PODS.bottom);
    stairs(drawing, total, pods, palette.ink);
    drawing.font = `10.5px ${palette.font}`;
    drawing.textBaseline = "middle";
    for (const tick of ticks) label(drawing, String(tick), Math.max(8, pods(tick)), palette.muted, palette);
    if (peakLevels.cpuMillis > 0) {
      drawing.fillStyle = palette.cpuBand;
      area(drawing, cpu, cores, CPU.bottom);
      stairs(drawing, cpu, cores, palette.cpu);
      label(drawing, `${number(peakLevels.cpuMillis / 1_000)} CPU`, CPU.top + 2, palette.cpu, palette);
    }
    cursor(drawing, scale, context, HEIGHT);
    this.#legend(concurrency, atMs ?? context.state.cursorMs, peakLevels, isFiltering(context.state));
  }

  /** Shows when the only pod exists: dark while it runs. The whole time decides, so that zooming changes no height. */
  #sparkline(scale: TimeScale, context: PageContext, atMs: number | undefined): void {
    const { concurrency } = context.data;
    const { palette } = context;
    const { height, top, bottom } = SPARKLINE;
    const drawing = fitCanvas(this.canvas, scale.width, height);
    const level = scaleLinear([0, 1], [bottom, top]);
    drawing.fillStyle = palette.line;
    drawing.fillRect(0, bottom, scale.width, 1);
    drawing.fillStyle = palette.looks.waiting;
    area(drawing, peaks(concurrency, concurrency.pods, scale), level, bottom);
    drawing.fillStyle = palette.looks.running;
    area(drawing, peaks(concurrency, concurrency.running, scale), level, bottom);
    cursor(drawing, scale, context, height);
    const most = max(peaks(concurrency, concurrency.pods, scale));
    const now = atMs === undefined ? most : levelAt(concurrency, concurrency.pods, atMs);
    const cpu = max(peaks(concurrency, concurrency.cpuMillis, scale));
    const facts = [
      `${atMs === undefined ? "At most " : ""}${now === 0 ? "no pod" : "1 pod"} at ${atMs === undefined ? "a" : "this"} time`,
      ...(cpu > 0 ? [`${number(cpu / 1_000)} CPU`] : []),
    ];
    this.legend.replaceChildren(h("div", { class: "title" }, facts.join(", ")));
  }

  #legend(
    steps: ConcurrencySteps,
    atMs: number | undefined,
    peakLevels: Readonly<Record<"pods" | "running" | "waiting" | "cpuMillis", number>>,
    isFiltered: boolean,
  ): void {
    const entry = (name: string, kind: string, levels: Levels, peak: number, unit = 1): HTMLElement => {
      const now = atMs === undefined ? "" : `${number(levelAt(steps, levels, atMs) / unit)} of `;
      return h(
        "div",
        { class: `level ${kind}` },
        h("span", { class: "swatch" }),
        h("span", { class: "label" }, name),
        h("span", { class: "value" }, `${now}${number(peak / unit)}`),
      );
    };
    this.legend.replaceChildren(
      h("div", { class: "title" }, atMs === undefined ? "At the same time, at most" : "At the same time"),
      entry(isFiltered ? "Pods of all" : "Pods", "pods-total", steps.pods, peakLevels.pods),
      entry("running", "running", steps.running, peakLevels.running),
      entry("waiting", "waiting", steps.waiting, peakLevels.waiting),
      ...(peakLevels.cpuMillis > 0
        ? [entry("CPU requested", "cpu", steps.cpuMillis, peakLevels.cpuMillis, 1_000)]
        : []),
    );
  }
}

type Scale = ReturnType<typeof scaleLinear<number, number>>;

/** The highest level between one screen position and the next. */
interface Peak {
  readonly x: number;
  readonly value: number;
}

function peaks({ atMs }: ConcurrencySteps, { peak, last }: Levels, scale: TimeScale): Peak[] {
  const stepMs = roundStep(scale, STEP_PX);
  const found: Peak[] = [];
  let fromMs = Math.floor(scale.fromMs / stepMs) * stepMs;
  let index = lowerBound(atMs, fromMs);
  let value = 0;
  for (; fromMs <= scale.toMs; fromMs += stepMs) {
    value = last[index - 1] ?? 0;
    for (; index < atMs.length && atMs[index]! < fromMs + stepMs; index++) value = Math.max(value, peak[index]!);
    found.push({ x: xOf(scale, fromMs), value });
  }
  found.push({ x: xOf(scale, fromMs), value });
  return found;
}

function levelAt({ atMs }: ConcurrencySteps, { last }: Levels, at: number): number {
  return last[lowerBound(atMs, at + 1) - 1] ?? 0;
}

function max(levels: readonly Peak[]): number {
  return levels.reduce((max, { value }) => Math.max(max, value), 0);
}

function cursor(drawing: CanvasRenderingContext2D, scale: TimeScale, context: PageContext, height: number): void {
  const { cursorMs } = context.state;
  if (cursorMs === undefined) return;
  drawing.fillStyle = context.palette.accent;
  drawing.fillRect(Math.round(xOf(scale, cursorMs)) - 0.5, 0, 1, height);
}

function label(drawing: CanvasRenderingContext2D, text: string, y: number, colour: string, palette: Palette): void {
  drawing.fillStyle = palette.surface;
  drawing.globalAlpha = 0.85;
  drawing.fillRect(4, y - 6, drawing.measureText(text).width + 4, 12);
  drawing.globalAlpha = 1;
  drawing.fillStyle = colour;
  drawing.fillText(text, 6, y);
}

function area(drawing: CanvasRenderingContext2D, levels: readonly Peak[], y: Scale, bottom: number): void {
  drawing.beginPath();
  drawing.moveTo(levels[0]?.x ?? 0, bottom);
  trace(drawing, levels, y);
  drawing.lineTo(levels.at(-1)?.x ?? 0, bottom);
  drawing.fill();
}

function stairs(drawing: CanvasRenderingContext2D, levels: readonly Peak[], y: Scale, colour: string): void {
  drawing.strokeStyle = colour;
  drawing.lineWidth = 1.5;
  drawing.beginPath();
  trace(drawing, levels, y);
  drawing.stroke();
}

function trace(drawing: CanvasRenderingContext2D, levels: readonly Peak[], y: Scale): void {
  let previous: number | undefined;
  for (const { x, value } of levels) {
    if (previous !== undefined) drawing.lineTo(x, y(previous));
    drawing.lineTo(x, y(value));
    previous = value;
  }
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}
