import { scaleLinear } from "d3-scale";

import type { ConcurrencySteps, Levels } from "../report/concurrency.js";
import { fitCanvas, h } from "./dom.js";
import { lowerBound } from "./lane.js";
import type { PageContext } from "./page-context.js";
import { type TimeScale, timeAt, xOf } from "./time-scale.js";

const HEIGHT = 104;
const TOP = 10;
const BOTTOM = 6;

/** Pods that run and wait, and the CPU they request, over time: where everything starts at once. */
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
    const drawing = fitCanvas(this.canvas, scale.width, HEIGHT);
    const columns = Math.ceil(scale.width);
    const running = peaks(concurrency, concurrency.running, scale, columns);
    const waiting = peaks(concurrency, concurrency.waiting, scale, columns);
    const cpu = peaks(concurrency, concurrency.cpuMillis, scale, columns);
    const mostPods = Math.max(1, max(running), max(waiting));
    const mostCpu = max(cpu);
    const bottom = HEIGHT - BOTTOM;
    const pods = scaleLinear([0, mostPods], [bottom, TOP]);
    const cores = scaleLinear([0, Math.max(1, mostCpu) / 1_000], [bottom, TOP]);
    drawing.font = `10.5px ${palette.font}`;
    drawing.textBaseline = "middle";
    for (const tick of pods.ticks(3).filter(Number.isInteger)) {
      drawing.fillStyle = palette.line;
      drawing.fillRect(0, Math.round(pods(tick)), scale.width, 1);
    }
    drawing.fillStyle = palette.looks.running;
    drawing.globalAlpha = 0.3;
    area(drawing, running, pods, bottom);
    drawing.globalAlpha = 1;
    stairs(drawing, running, pods, palette.looks.running, 1.5, []);
    if (max(waiting) > 0) stairs(drawing, waiting, pods, palette.muted, 1.25, [2, 3]);
    if (mostCpu > 0)
      stairs(
        drawing,
        cpu.map((millis) => millis / 1_000),
        cores,
        palette.cpu,
        1.5,
        [6, 3],
      );
    this.#labels(drawing, pods, mostCpu > 0 ? cores : undefined, scale, context);
    const { cursorMs } = context.state;
    if (cursorMs !== undefined) {
      drawing.fillStyle = palette.accent;
      drawing.fillRect(Math.round(xOf(scale, cursorMs)) - 0.5, 0, 1, HEIGHT);
    }
    this.#legend(concurrency, atMs ?? cursorMs, { running: max(running), waiting: max(waiting), cpuMillis: mostCpu });
  }

  #labels(
    drawing: CanvasRenderingContext2D,
    pods: Scale,
    cores: Scale | undefined,
    { width }: TimeScale,
    { palette }: PageContext,
  ): void {
    const label = (text: string, x: number, y: number, colour: string, align: CanvasTextAlign): void => {
      drawing.textAlign = align;
      const wide = drawing.measureText(text).width;
      drawing.fillStyle = palette.surface;
      drawing.globalAlpha = 0.85;
      drawing.fillRect(align === "left" ? x - 2 : x - wide - 2, y - 6, wide + 4, 12);
      drawing.globalAlpha = 1;
      drawing.fillStyle = colour;
      drawing.fillText(text, x, y);
    };
    for (const tick of pods.ticks(3).filter((value) => Number.isInteger(value) && value > 0))
      label(String(tick), 6, Math.max(8, pods(tick)), palette.muted, "left");
    if (cores === undefined) return;
    for (const tick of cores.ticks(3).filter((value) => value > 0))
      label(`${tick} CPU`, width - 6, Math.max(8, cores(tick)), palette.cpu, "right");
  }

  #legend(
    steps: ConcurrencySteps,
    atMs: number | undefined,
    most: Record<"running" | "waiting" | "cpuMillis", number>,
  ): void {
    const now = (levels: Levels): number | undefined => (atMs === undefined ? undefined : levelAt(steps, levels, atMs));
    const entry = (name: string, kind: string, value: number | undefined, peak: number, unit = ""): HTMLElement =>
      h(
        "div",
        { class: `level ${kind}` },
        h("span", { class: "swatch" }),
        h("span", { class: "label" }, name),
        h("span", { class: "value" }, `${value === undefined ? "" : `${number(value)} of `}${number(peak)}${unit}`),
      );
    this.legend.replaceChildren(
      h("div", { class: "title" }, atMs === undefined ? "Concurrency, peak" : "Concurrency"),
      entry("Pods running", "running", now(steps.running), most.running),
      entry("Pods waiting", "waiting", now(steps.waiting), most.waiting),
      entry(
        "CPU requested",
        "cpu",
        atMs === undefined ? undefined : now(steps.cpuMillis)! / 1_000,
        most.cpuMillis / 1_000,
      ),
    );
  }
}

type Scale = ReturnType<typeof scaleLinear<number, number>>;

/** The highest level in each column of pixels. */
function peaks({ atMs }: ConcurrencySteps, { peak, last }: Levels, scale: TimeScale, columns: number): number[] {
  const values: number[] = [];
  let index = lowerBound(atMs, scale.fromMs);
  for (let column = 0; column < columns; column++) {
    const end = timeAt(scale, column + 1);
    let most = last[index - 1] ?? 0;
    for (; index < atMs.length && atMs[index]! < end; index++) most = Math.max(most, peak[index]!);
    values.push(most);
  }
  return values;
}

function levelAt({ atMs }: ConcurrencySteps, { last }: Levels, at: number): number {
  return last[lowerBound(atMs, at + 1) - 1] ?? 0;
}

function max(values: readonly number[]): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}

function area(drawing: CanvasRenderingContext2D, values: readonly number[], y: Scale, bottom: number): void {
  drawing.beginPath();
  drawing.moveTo(0, bottom);
  for (const [column, value] of values.entries()) {
    drawing.lineTo(column, y(value));
    drawing.lineTo(column + 1, y(value));
  }
  drawing.lineTo(values.length, bottom);
  drawing.fill();
}

function stairs(
  drawing: CanvasRenderingContext2D,
  values: readonly number[],
  y: Scale,
  colour: string,
  width: number,
  dash: number[],
): void {
  drawing.strokeStyle = colour;
  drawing.lineWidth = width;
  drawing.setLineDash(dash);
  drawing.beginPath();
  let previous: number | undefined;
  for (const [column, value] of values.entries()) {
    if (value === previous) continue;
    if (previous === undefined) drawing.moveTo(column, y(value));
    else {
      drawing.lineTo(column, y(previous));
      drawing.lineTo(column, y(value));
    }
    previous = value;
  }
  if (previous !== undefined) drawing.lineTo(values.length, y(previous));
  drawing.stroke();
  drawing.setLineDash([]);
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}
