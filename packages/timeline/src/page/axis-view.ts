import { axisTop } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { type Selection, select } from "d3-selection";

import type { PageContext } from "./page-context.js";
import { BAND_ROWS, type Band } from "./time-bands.js";
import { type TimeScale, xOf } from "./time-scale.js";
import { timeTicks } from "./time-ticks.js";

const COARSE_Y = 14;
const AXIS_HEIGHT = 46;
const BAND_HEIGHT = 20;

/** Returns the height of the axis, with as many rows of bands as overlap at most. */
export function axisHeight(bands: readonly Band[]): number {
  return AXIS_HEIGHT + BAND_HEIGHT * bands.reduce((rows, { row }) => Math.max(rows, row + 1), 0);
}

/** The time axis: days above, hours below, and the names of bands beneath. */
export class AxisView {
  readonly #svg: Selection<SVGSVGElement, unknown, null, undefined>;
  readonly #fine;
  readonly #coarse;
  readonly #bands;
  readonly #flag;

  constructor(svg: SVGSVGElement) {
    this.#svg = select(svg);
    this.#coarse = this.#svg.append("g").attr("class", "coarse");
    this.#fine = this.#svg
      .append("g")
      .attr("class", "fine")
      .attr("transform", `translate(0, ${AXIS_HEIGHT - 0.5})`);
    this.#bands = this.#svg.append("g").attr("class", "bands").attr("transform", `translate(0, ${AXIS_HEIGHT})`);
    this.#flag = this.#svg.append("g").attr("class", "flag");
    this.#flag
      .append("rect")
      .attr("y", AXIS_HEIGHT - 19)
      .attr("height", 17)
      .attr("rx", 4);
    this.#flag
      .append("text")
      .attr("y", AXIS_HEIGHT - 10)
      .attr("dy", "0.32em")
      .attr("text-anchor", "middle");
  }

  render(scale: TimeScale, context: PageContext): void {
    const { width } = scale;
    const height = axisHeight(context.bands);
    this.#svg.attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
    const ticks = timeTicks(scale, context.zone);
    const labels = new Map(ticks.fine.map(({ atMs, label }) => [atMs, label]));
    const { cursorMs } = context.state;
    const flagX = cursorMs === undefined ? Number.NaN : xOf(scale, cursorMs);
    const x = scaleLinear([scale.fromMs, scale.toMs], [0, width]);
    this.#fine.call(
      axisTop<number>(x as unknown as Parameters<typeof axisTop<number>>[0])
        .tickValues([...labels.keys()].filter((atMs) => xOf(scale, atMs) >= 18 && xOf(scale, atMs) <= width - 18))
        .tickFormat((atMs) => (Math.abs(xOf(scale, atMs) - flagX) < FLAG_ROOM ? "" : (labels.get(atMs) ?? "")))
        .tickSizeOuter(0),
    );
    this.#renderCoarse(scale, ticks.coarse);
    this.#renderBands(scale, context);
    this.#renderFlag(scale, context);
  }

  #renderCoarse(scale: TimeScale, ticks: readonly { readonly atMs: number; readonly label: string }[]): void {
    // The first label stays visible until the next one pushes it out.
    const placed: { label: string; x: number }[] = [];
    for (const { label, atMs } of ticks.toReversed()) {
      const at = xOf(scale, atMs);
      const limit = placed.at(-1)?.x ?? Infinity;
      const left = Math.max(at, 0) + 6;
      if (left + label.length * 7.4 + 8 < Math.min(limit, scale.width)) placed.push({ label, x: left });
    }
    this.#coarse
      .selectAll<SVGTextElement, { label: string; x: number }>("text")
      .data(placed)
      .join("text")
      .attr("x", ({ x }) => x)
      .attr("y", COARSE_Y)
      .text(({ label }) => label);
    this.#coarse
      .selectAll<SVGLineElement, { atMs: number }>("line")
      .data(ticks.filter(({ atMs }) => atMs > scale.fromMs))
      .join("line")
      .attr("x1", ({ atMs }) => xOf(scale, atMs))
      .attr("x2", ({ atMs }) => xOf(scale, atMs))
      .attr("y1", 2)
      .attr("y2", AXIS_HEIGHT);
  }

  #renderBands(scale: TimeScale, { bands }: PageContext): void {
    const free = Array.from({ length: BAND_ROWS }, () => -Infinity);
    const shown = bands
      .filter(({ fromMs, toMs }) => toMs >= scale.fromMs && fromMs <= scale.toMs)
      .slice(0, MAX_BANDS)
      .map((band) => {
        const left = Math.max(0, xOf(scale, band.fromMs));
        const width = Math.max(3, Math.min(scale.width, xOf(scale, band.toMs)) - left);
        // Shows the full detail where it fits.
        const text = band.detail.length * 6.4 + 12 < width ? band.detail : band.label;
        const textWidth = text.length * 6.4 + 12;
        // At the right edge a label is placed left of its band.
        const textX =
          left + textWidth > scale.width ? Math.max(0, left - textWidth) : left + (width < textWidth ? width + 4 : 6);
        const hasText = textX >= free[band.row]!;
        if (hasText) free[band.row] = textX + textWidth;
        return { ...band, left, width, textX, text: hasText ? text : "", top: band.row * BAND_HEIGHT };
      });
    const groups = this.#bands
      .selectAll<SVGGElement, (typeof shown)[number]>("g")
      .data(shown)
      .join((enter) => {
        const group = enter.append("g");
        group.append("title");
        group
          .append("rect")
          .attr("height", BAND_HEIGHT - 4)
          .attr("rx", 2);
        group.append("text").attr("dy", "0.34em");
        return group;
      })
      .attr("class", ({ kind }) => kind);
    groups.select("title").text(({ detail }) => detail);
    groups
      .select("rect")
      .attr("x", ({ left }) => left)
      .attr("y", ({ top }) => top + 2)
      .attr("width", ({ width }) => width);
    groups
      .select("text")
      .attr("x", ({ textX }) => textX)
      .attr("y", ({ top }) => top + BAND_HEIGHT / 2)
      .text(({ text }) => text);
  }

  #renderFlag(scale: TimeScale, { state, zone }: PageContext): void {
    const { cursorMs } = state;
    const isShown = cursorMs !== undefined && cursorMs >= scale.fromMs && cursorMs <= scale.toMs;
    this.#flag.attr("visibility", isShown ? "visible" : "hidden");
    if (!isShown) return;
    const text =
      scale.toMs - scale.fromMs < 7_200_000 ? zone.second(cursorMs).slice(5) : zone.minute(cursorMs).slice(5);
    const width = text.length * 6.8 + 12;
    const x = Math.min(scale.width - width / 2, Math.max(width / 2, xOf(scale, cursorMs)));
    this.#flag
      .select("rect")
      .attr("x", x - width / 2)
      .attr("width", width);
    this.#flag.select("text").attr("x", x).text(text);
  }
}

const MAX_BANDS = 300;
/** Pixels on either side of the cursor's flag that are kept free of other labels. */
const FLAG_ROOM = 62;
