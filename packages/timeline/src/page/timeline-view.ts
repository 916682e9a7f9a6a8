import { AxisView, axisHeight } from "./axis-view.js";
import { ConcurrencyView } from "./concurrency-view.js";
import { type CalendarBins, calendarBins } from "./calendar-bins.js";
import { fitCanvas, h, addListener } from "./dom.js";
import type { Item } from "./item.js";
import { type LaneBin, laneBins } from "./lane-bins.js";
import { LanePainter, hatchPattern } from "./lane-painter.js";
import type { PageContext } from "./page-context.js";
import { KEYS, RowKeys } from "./row-keys.js";
import { type SceneRow, itemAt, laneMiddle, rowAt } from "./scene.js";
import { type TimeScale, timeAt, xOf } from "./time-scale.js";
import { Tooltip } from "./tooltip.js";
import { TreeView } from "./tree-view.js";
import { type TimelineSizes, WindowZoom } from "./window-zoom.js";

const HIT_PX = 5;
/** Zoom factor of a click on a bin. */
const BIN_ZOOM = 8;

/** The axis, the lanes with their tree, and the concurrency plot, all for one time window. */
export class TimelineView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #tree: TreeView;
  readonly #axis: AxisView;
  readonly #concurrency = new ConcurrencyView();
  readonly #scroller: HTMLElement;
  readonly #stage: HTMLElement;
  readonly #corner = h("div", { class: "corner" });
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip = new Tooltip();
  readonly #keys: RowKeys;
  readonly #zoom: WindowZoom;
  readonly #empty = h("p", { class: "empty" }, "Nothing matches the filter.");
  #hatch: CanvasPattern | undefined;
  #hovered: Item | undefined;
  #hoverMs: number | undefined;
  /** The last pointer position. */
  #pointer: PointerEvent | undefined;
  #bins: { readonly key: string; readonly calendar: CalendarBins } | undefined;
  #measured: (TimelineSizes & { readonly height: number }) | undefined;

  constructor(context: PageContext, openDetails: () => void, redraw: () => void) {
    this.#context = context;
    this.#tree = new TreeView(context);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "axis");
    svg.setAttribute("aria-hidden", "true");
    this.#axis = new AxisView(svg);
    this.#canvas = h("canvas", {
      class: "lanes",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label": `Timeline of runs. ${KEYS} The table view lists the same runs.`,
    });
    this.#stage = h("div", { class: "stage" }, this.#canvas);
    this.#scroller = h("div", { class: "scroller" }, this.#tree.element, this.#stage, this.#empty);
    this.element = h(
      "section",
      { class: "timeline", "aria-label": "Timeline" },
      this.#corner,
      h("div", { class: "axis-box" }),
      this.#scroller,
      this.#concurrency.legend,
      h("div", { class: "concurrency-box" }, this.#concurrency.canvas),
      this.#tooltip.element,
    );
    this.element.querySelector(".axis-box")!.append(svg);
    this.#scroller.addEventListener("scroll", redraw, { passive: true });
    new ResizeObserver(() => {
      this.measure();
      redraw();
    }).observe(this.#scroller);
    addListener(this.#canvas, {
      onpointermove: (event) => this.#pointed(event, redraw),
      onpointerleave: () => this.#left(redraw),
      onclick: (event) => this.#clicked(event),
      onkeydown: (event) => this.#keys.press(event),
      onfocus: redraw,
      onblur: redraw,
    });
    this.#keys = new RowKeys(context, () => rowAt(context.scene, this.#scroller.scrollTop), openDetails);
    this.#zoom = new WindowZoom({
      element: this.element,
      scroller: this.#scroller,
      context,
      sizes: () => this.#sizes,
      onMove: () => this.#left(() => {}),
    });
    this.#setUpTouch();
  }

  /** Reading sizes forces a layout, so they are cached until a resize. */
  get #sizes(): TimelineSizes & { readonly height: number } {
    if (this.#measured !== undefined) return this.#measured;
    const gutter = this.#tree.element.offsetWidth;
    const { clientWidth, clientHeight } = this.#scroller;
    return (this.#measured = { gutter, width: Math.max(50, clientWidth - gutter), height: clientHeight });
  }

  /** Height of the screen for the rows, in pixels. */
  get rowsHeight(): number {
    return this.#sizes.height;
  }

  get scale(): TimeScale {
    const { fromMs, toMs } = this.#context.state;
    return { fromMs, toMs, width: this.#sizes.width };
  }

  /** Discards the cached sizes after a resize. */
  measure(): void {
    this.#measured = undefined;
  }

  /** Discards colors after a change of the theme. */
  refreshColours(): void {
    this.#hatch = undefined;
  }

  render(): void {
    const { scene, palette, bands, state } = this.#context;
    this.element.style.setProperty("--scene-height", `${scene.height}px`);
    const { scale } = this;
    const { height } = this.#sizes;
    this.element.style.setProperty("--axis-height", `${axisHeight(bands)}px`);
    this.#stage.style.height = `${height}px`;
    this.#empty.hidden = scene.rows.length > 0;
    this.#zoom.sync();
    this.#tree.render(this.#scroller.scrollTop, height);
    this.#axis.render(scale, this.#context);
    const drawing = fitCanvas(this.#canvas, scale.width, height);
    this.#hatch ??= hatchPattern(drawing);
    // Zooming with the keyboard changes the item under a pointer that does not move.
    if (this.#pointer !== undefined) this.#hover(this.#pointer);
    this.#paintBackground(drawing, scale, height);
    const painter = new LanePainter(drawing, { scale, calendar: this.#calendar(scale) }, palette, this.#hatch);
    let hasBins = false;
    const top = this.#scroller.scrollTop;
    const selected = state.selected === undefined ? undefined : scene.items.get(state.selected);
    for (const row of scene.rows) {
      if (row.top + row.height < top || row.top > top + height) continue;
      const barHeight = row.laneHeight - (row.level === 1 ? 8 : 3);
      for (const [index, lane] of row.lanes.entries()) {
        const middle = row.top - top + laneMiddle(row, index);
        hasBins = painter.lane(lane, middle, barHeight) || hasBins;
        for (const [wanted, colour, width] of [
          [this.#hovered, palette.muted, 1],
          [selected, palette.accent, 2],
        ] as const) {
          const item = wanted === undefined ? undefined : lane.find(wanted);
          if (item !== undefined) painter.frame(item, middle, barHeight, colour, width);
        }
      }
    }
    this.#corner.textContent = hasBins ? `Numbers are per ${this.#calendar(scale).unit}` : "";
    this.#paintHidden(drawing, scale, height);
    this.#paintLines(drawing, scale, height);
    this.#concurrency.render(scale, this.#context, this.#hoverMs);
  }

  /** Scrolls the lanes so that an item is visible. */
  reveal(item: Item): void {
    const row = this.#keys.rowOf(item);
    if (row === undefined) return;
    const { scrollTop, clientHeight } = this.#scroller;
    if (row.top < scrollTop || row.top + Math.min(row.height, clientHeight) > scrollTop + clientHeight)
      this.#scroller.scrollTop = Math.max(0, row.top - clientHeight / 3);
  }

  focus(): void {
    this.#canvas.focus();
  }

  #paintBackground(drawing: CanvasRenderingContext2D, scale: TimeScale, height: number): void {
    const { scene, palette, bands } = this.#context;
    const top = this.#scroller.scrollTop;
    drawing.fillStyle = palette.stripe;
    for (const row of scene.rows) if (row.level === 1) drawing.fillRect(0, row.top - top, scale.width, row.height);
    drawing.fillStyle = palette.line;
    for (const row of scene.rows) if (row.level === 1) drawing.fillRect(0, row.top - top, scale.width, 1);
    for (const { kind, fromMs, toMs } of bands) {
      const from = Math.max(-2, xOf(scale, fromMs));
      const to = Math.min(scale.width + 2, xOf(scale, toMs));
      if (to < 0 || from > scale.width) continue;
      drawing.fillStyle = kind === "clock" ? palette.band : palette.outage;
      drawing.globalAlpha = 0.1;
      drawing.fillRect(from, 0, Math.max(3, to - from), height);
      drawing.globalAlpha = 0.8;
      for (const edge of new Set([from, to])) drawing.fillRect(edge, 0, 1, height);
      drawing.globalAlpha = 1;
    }
  }

  /** Marks where a row ends because the page does not include later runs. */
  #paintHidden(drawing: CanvasRenderingContext2D, scale: TimeScale, height: number): void {
    const { scene, palette, state } = this.#context;
    const top = this.#scroller.scrollTop;
    drawing.font = `11px ${palette.font}`;
    drawing.fillStyle = palette.muted;
    for (const row of scene.rows) {
      const { hiddenRows } = row.group;
      if (hiddenRows === 0 || row.level > 1 || row.top + row.height < top || row.top > top + height) continue;
      const last = row.lanes[0]?.items.at(-1);
      const lane = row.lanes[0];
      const binned = lane === undefined ? undefined : laneBins(lane, scale, this.#calendar(scale))?.at(-1)?.toMs;
      const x = xOf(scale, Math.max(last?.endMs ?? state.fromMs, binned ?? 0)) + 12;
      const middle = row.top - top + laneMiddle(row, 0);
      if (x < scale.width) drawing.fillText(`${hiddenRows.toLocaleString("en")} more runs are not drawn`, x, middle);
    }
  }

  /** Returns the intervals of the calendar for a window, cached until the window or the zone changes. */
  #calendar(scale: TimeScale): CalendarBins {
    const { zone } = this.#context;
    const key = `${scale.fromMs} ${scale.toMs} ${scale.width} ${zone.zone}`;
    if (this.#bins?.key !== key) this.#bins = { key, calendar: calendarBins(scale, zone) };
    return this.#bins.calendar;
  }

  #paintLines(drawing: CanvasRenderingContext2D, scale: TimeScale, height: number): void {
    const { palette, state } = this.#context;
    const line = (atMs: number | undefined, colour: string): void => {
      if (atMs === undefined) return;
      drawing.fillStyle = colour;
      drawing.fillRect(Math.round(xOf(scale, atMs)) - 0.5, 0, 1, height);
    };
    drawing.globalAlpha = 0.45;
    line(this.#hoverMs, palette.muted);
    drawing.globalAlpha = 1;
    line(state.cursorMs, palette.accent);
  }

  /** Scrolls the lanes vertically with one finger, because the zoom behaviour suppresses the browser's scrolling. */
  #setUpTouch(): void {
    let lastY: number | undefined;
    const onTouch = ({ touches, type }: TouchEvent): void => {
      const y = touches.length === 1 ? touches[0]!.clientY : undefined;
      if (type === "touchmove" && y !== undefined && lastY !== undefined) this.#scroller.scrollTop += lastY - y;
      lastY = y;
    };
    for (const type of ["touchstart", "touchmove", "touchend", "touchcancel"] as const)
      this.#stage.addEventListener(type, onTouch, { passive: true });
  }

  #pointed(event: PointerEvent, redraw: () => void): void {
    if (event.buttons !== 0) return;
    this.#pointer = event;
    redraw();
  }

  #hover(event: PointerEvent): void {
    const box = this.#canvas.getBoundingClientRect();
    const { row: _, item, bin, atMs } = this.#at(event.clientX - box.left, event.clientY - box.top);
    this.#hovered = bin === undefined ? item : undefined;
    this.#hoverMs = atMs;
    this.#canvas.classList.toggle("on-item", (bin ?? item) !== undefined);
    if (bin !== undefined) this.#tooltip.showBin(bin, this.#calendar(this.scale).unit, event, this.#context);
    else this.#tooltip.show(item, event, this.#context);
  }

  /** Returns the item or bin at a point of the canvas. */
  #at(x: number, y: number): { row?: SceneRow; item?: Item | undefined; bin?: LaneBin | undefined; atMs: number } {
    const { scale } = this;
    const atMs = timeAt(scale, x);
    const toleranceMs = ((scale.toMs - scale.fromMs) / scale.width) * HIT_PX;
    const found = itemAt(this.#context.scene, y + this.#scroller.scrollTop, atMs, toleranceMs);
    if (found?.lane === undefined) return { atMs };
    const bins = laneBins(found.lane, scale, this.#calendar(scale));
    if (bins === undefined) return { row: found.row, item: found.item, atMs };
    return { row: found.row, bin: bins.find(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs), atMs };
  }

  #left(redraw: () => void): void {
    this.#pointer = undefined;
    this.#hovered = undefined;
    this.#hoverMs = undefined;
    this.#tooltip.hide();
    redraw();
  }

  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented) return;
    const { row, item, bin, atMs } = this.#at(event.offsetX, event.offsetY);
    if (row !== undefined && item !== undefined) this.#keys.select(item, row);
    else if (bin === undefined) this.#context.update({ cursorMs: atMs, selected: undefined });
    else this.#context.zoomBy(BIN_ZOOM, (bin.fromMs + bin.toMs) / 2);
  }
}
