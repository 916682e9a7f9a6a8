import { select } from "d3-selection";
import { type D3ZoomEvent, zoom, zoomIdentity, zoomTransform } from "d3-zoom";

import { AxisView, axisHeight } from "./axis-view.js";
import { ConcurrencyView } from "./concurrency-view.js";
import { fitCanvas, h, listen } from "./dom.js";
import { durationText } from "./duration-text.js";
import type { Item } from "./item.js";
import { itemOutcome, itemSummary, itemTitle, latenessMs } from "./item-text.js";
import { lowerBound } from "./lane.js";
import { LanePainter, hatchPattern } from "./lane-painter.js";
import type { PageContext } from "./page-context.js";
import { type SceneRow, itemAt, laneMiddle, rowAt } from "./scene.js";
import { type TimeScale, timeAt, xOf } from "./time-scale.js";
import { TreeView } from "./tree-view.js";

const HIT_PX = 5;
const SHORTEST_WINDOW_MS = 2_000;
const KEYS =
  "Left and right arrow: previous and next run. Up and down: other rows. Enter: details. Plus and minus: zoom. 0: everything. Shift with left and right: move the window.";

/** Axis, lanes with their tree, and the concurrency plot, all over one window of time. */
export class TimelineView {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #tree: TreeView;
  readonly #axis: AxisView;
  readonly #concurrency = new ConcurrencyView();
  readonly #scroller: HTMLElement;
  readonly #stage: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip = h("div", { class: "tooltip", "aria-hidden": "true" });
  readonly #empty = h("p", { class: "empty" }, "Nothing matches the filter.");
  readonly #zoom = zoom<HTMLElement, unknown>();
  readonly #openDetails: () => void;
  #hatch: CanvasPattern | undefined;
  #hover: { row: SceneRow; item: Item | undefined; atMs: number } | undefined;
  #hoverMs: number | undefined;
  #measured: { readonly gutter: number; readonly width: number; readonly height: number } | undefined;
  /** The row in which arrow keys move. */
  #keyRow: string | undefined;

  constructor(context: PageContext, openDetails: () => void, redraw: () => void) {
    this.#context = context;
    this.#openDetails = openDetails;
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
      h("div", { class: "corner" }),
      h("div", { class: "axis-box" }),
      this.#scroller,
      this.#concurrency.legend,
      h("div", { class: "concurrency-box" }, this.#concurrency.canvas),
      this.#tooltip,
    );
    this.element.querySelector(".axis-box")!.append(svg);
    this.#scroller.addEventListener("scroll", redraw, { passive: true });
    new ResizeObserver(() => {
      this.#measured = undefined;
      redraw();
    }).observe(this.#scroller);
    listen(this.#canvas, {
      onpointermove: (event) => this.#pointed(event, redraw),
      onpointerleave: () => this.#left(redraw),
      onclick: (event) => this.#clicked(event),
      onkeydown: (event) => this.#pressed(event),
      onfocus: redraw,
      onblur: redraw,
    });
    this.#setUpZoom();
    this.#setUpTouch();
  }

  /** Asking the browser makes it lay out the page, so it is asked once per size. */
  get #sizes(): { readonly gutter: number; readonly width: number; readonly height: number } {
    if (this.#measured !== undefined) return this.#measured;
    const gutter = this.#tree.element.offsetWidth;
    const { clientWidth, clientHeight } = this.#scroller;
    return (this.#measured = { gutter, width: Math.max(50, clientWidth - gutter), height: clientHeight });
  }

  get #gutter(): number {
    return this.#sizes.gutter;
  }

  get scale(): TimeScale {
    const { fromMs, toMs } = this.#context.state;
    return { fromMs, toMs, width: this.#sizes.width };
  }

  /** The theme changed. */
  refreshColours(): void {
    this.#hatch = undefined;
  }

  render(): void {
    const { scene, palette, bands, state } = this.#context;
    const { scale } = this;
    const { height } = this.#sizes;
    this.element.style.setProperty("--axis-height", `${axisHeight(bands)}px`);
    this.#stage.style.height = `${height}px`;
    this.#empty.hidden = scene.rows.length > 0;
    this.#syncZoom(scale);
    this.#tree.render(this.#scroller.scrollTop, height);
    this.#axis.render(scale, this.#context);
    const drawing = fitCanvas(this.#canvas, scale.width, height);
    this.#hatch ??= hatchPattern(drawing);
    this.#paintBackground(drawing, scale, height);
    const painter = new LanePainter(drawing, scale, palette, this.#hatch);
    const top = this.#scroller.scrollTop;
    const selected = state.selected === undefined ? undefined : scene.items.get(state.selected);
    for (const row of scene.rows) {
      if (row.top + row.height < top || row.top > top + height) continue;
      const barHeight = row.laneHeight - (row.level === 1 ? 8 : 3);
      for (const [index, lane] of row.lanes.entries()) {
        const middle = row.top - top + laneMiddle(row, index);
        painter.lane(lane, middle, barHeight);
        for (const [wanted, colour, width] of [
          [this.#hover?.item, palette.muted, 1],
          [selected, palette.accent, 2],
        ] as const) {
          const item = wanted === undefined ? undefined : lane.find(wanted);
          if (item !== undefined) painter.frame(item, middle, barHeight, colour, width);
        }
      }
    }
    this.#paintHidden(drawing, scale, height);
    this.#paintLines(drawing, scale, height);
    this.#concurrency.render(scale, this.#context, this.#hoverMs);
  }

  /** Moves the lanes so that an item can be seen. */
  reveal(item: Item): void {
    const row = this.#rowOf(item);
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

  /** Where a row ends because a page holds no more, not because nothing happened. */
  #paintHidden(drawing: CanvasRenderingContext2D, scale: TimeScale, height: number): void {
    const { scene, palette, state } = this.#context;
    const top = this.#scroller.scrollTop;
    drawing.font = `11px ${palette.font}`;
    drawing.fillStyle = palette.muted;
    for (const row of scene.rows) {
      const { hiddenRows } = row.group;
      if (hiddenRows === 0 || row.level > 1 || row.top + row.height < top || row.top > top + height) continue;
      const last = row.lanes[0]?.items.at(-1);
      const x = xOf(scale, last?.endMs ?? state.fromMs) + 12;
      const middle = row.top - top + laneMiddle(row, 0);
      if (x < scale.width) drawing.fillText(`${hiddenRows.toLocaleString("en")} more runs are not drawn`, x, middle);
    }
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

  #setUpZoom(): void {
    const root = select(this.element);
    this.#zoom
      .clickDistance(4)
      .filter((event: Event) => {
        const target = event.target as Element;
        if (target.closest(".stage, .axis-box, .concurrency-box") === null || (event as MouseEvent).button > 0)
          return false;
        if (!(event instanceof WheelEvent)) return true;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return false;
        const canScroll = this.#scroller.scrollHeight > this.#scroller.clientHeight + 1;
        return event.ctrlKey || event.metaKey || !canScroll || target.closest(".stage") === null;
      })
      .on("zoom", (event: D3ZoomEvent<HTMLElement, unknown>) => {
        if (event.sourceEvent === null) return;
        this.#left(() => {});
        const { whole } = this.#context;
        const { transform } = event;
        const span = (whole.toMs - whole.fromMs) / transform.k;
        const fromMs = whole.fromMs - (transform.x / this.scale.width) * span - this.#gutterMs(transform.k, span);
        this.#context.update({ fromMs, toMs: fromMs + span });
      });
    root.call(this.#zoom);
    this.element.addEventListener(
      "wheel",
      (event) => {
        const delta = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
        if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
        if ((event.target as Element).closest(".stage, .axis-box, .concurrency-box") === null) return;
        event.preventDefault();
        this.#context.panBy(delta / this.scale.width);
      },
      { passive: false },
    );
  }

  /** One finger moves lanes up and down too: the zoom behaviour keeps the browser from it. */
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

  /** The behaviour counts from the left edge of the element, where the tree is. */
  #gutterMs(k: number, span: number): number {
    return ((this.#gutter * (k - 1)) / this.scale.width) * span;
  }

  /** Tells the zoom behaviour what the window is, and how far it may go. */
  #syncZoom({ width }: TimeScale): void {
    const { state, whole } = this.#context;
    const span = state.toMs - state.fromMs;
    const k = (whole.toMs - whole.fromMs) / span;
    const gutter = this.#gutter;
    this.#zoom
      .extent([
        [gutter, 0],
        [gutter + width, 100],
      ])
      .scaleExtent([1, Math.max(1, (whole.toMs - whole.fromMs) / SHORTEST_WINDOW_MS)])
      .translateExtent([
        [gutter, -Infinity],
        [gutter + width, Infinity],
      ]);
    const x = ((whole.fromMs - state.fromMs) / span) * width - gutter * (k - 1);
    const current = zoomTransform(this.element);
    if (Math.abs(current.k / k - 1) < 1e-9 && Math.abs(current.x - x) < 0.01) return;
    // Not through the behaviour: that would end a gesture that is under way.
    (this.element as HTMLElement & { __zoom?: unknown }).__zoom = zoomIdentity.translate(x, 0).scale(k);
  }

  #pointed(event: PointerEvent, redraw: () => void): void {
    if (event.buttons !== 0) return;
    const { scale } = this;
    const atMs = timeAt(scale, event.offsetX);
    const toleranceMs = ((scale.toMs - scale.fromMs) / scale.width) * HIT_PX;
    const found = itemAt(this.#context.scene, event.offsetY + this.#scroller.scrollTop, atMs, toleranceMs);
    this.#hover = found === undefined ? undefined : { ...found, atMs };
    this.#hoverMs = atMs;
    this.#canvas.classList.toggle("on-item", found?.item !== undefined);
    this.#showTooltip(event);
    redraw();
  }

  #left(redraw: () => void): void {
    this.#hover = undefined;
    this.#hoverMs = undefined;
    this.#tooltip.classList.remove("shown");
    redraw();
  }

  #showTooltip(event: PointerEvent): void {
    const hovered = this.#hover?.item;
    // Lanes of slots hold copies that last no time.
    const item = hovered === undefined ? undefined : (this.#context.scene.items.get(hovered.id) ?? hovered);
    this.#tooltip.classList.toggle("shown", item !== undefined);
    if (item === undefined) return;
    const { zone } = this.#context;
    const late = latenessMs(item);
    const lines =
      item.type === "ghost"
        ? [`due ${zone.minute(item.startMs)}`, item.row.reason]
        : [
            `${zone.second(item.startMs)}, ${durationText(item.endMs - item.startMs)}`,
            late > 0 ? `started ${durationText(late)} after its slot` : "",
            item.type === "run" ? [item.row.reason, item.row.message].filter(Boolean).join(": ") : podLine(item.pod),
          ];
    this.#tooltip.replaceChildren(
      h("div", { class: `badge ${item.look}` }, itemOutcome(item)),
      h("strong", {}, itemTitle(item)),
      ...lines.filter((line) => line !== "").map((line) => h("div", {}, line)),
    );
    const box = this.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const left = Math.max(4, Math.min(x + 14, box.width - this.#tooltip.offsetWidth - 8));
    const below = y + 18 + this.#tooltip.offsetHeight < box.height;
    this.#tooltip.style.transform = `translate(${left}px, ${below ? y + 18 : y - this.#tooltip.offsetHeight - 12}px)`;
  }

  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented) return;
    const { scale } = this;
    const atMs = timeAt(scale, event.offsetX);
    const y = event.offsetY + this.#scroller.scrollTop;
    const found = itemAt(this.#context.scene, y, atMs, ((scale.toMs - scale.fromMs) / scale.width) * HIT_PX);
    if (found?.item === undefined) this.#context.update({ cursorMs: atMs, selected: undefined });
    else this.#select(found.item, found.row);
  }

  #select(item: Item, row: SceneRow): void {
    this.#keyRow = row.id;
    // Lanes of slots hold copies that last no time.
    this.#context.select(this.#context.scene.items.get(item.id) ?? item);
    this.#context.announce(itemSummary(item, this.#context.zone), { aloud: false });
  }

  #rowOf(item: Item): SceneRow | undefined {
    const { rows } = this.#context.scene;
    const holds = (row: SceneRow): boolean => row.lanes.some((lane) => lane.find(item) !== undefined);
    const known = rows.find((row) => row.id === this.#keyRow);
    return known !== undefined && holds(known) ? known : rows.find((row) => row.group === item.group && holds(row));
  }

  #pressed(event: KeyboardEvent): void {
    const { scene, state } = this.#context;
    const selected = state.selected === undefined ? undefined : scene.items.get(state.selected);
    const row =
      (selected === undefined ? undefined : this.#rowOf(selected)) ??
      rowAt(scene, this.#scroller.scrollTop) ??
      scene.rows[0];
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight": {
        const step = event.key === "ArrowRight" ? 1 : -1;
        if (event.shiftKey) this.#context.panBy(step / 5);
        else if (row !== undefined) this.#step(row, selected, step);
        break;
      }
      case "ArrowUp":
      case "ArrowDown":
        if (row !== undefined) this.#changeRow(row, selected, event.key === "ArrowDown" ? 1 : -1);
        break;
      case "Home":
      case "End": {
        const item = row === undefined ? undefined : inOrder(row).at(event.key === "Home" ? 0 : -1);
        if (row !== undefined && item !== undefined) this.#select(item, row);
        break;
      }
      case "Enter":
        if (selected !== undefined) this.#openDetails();
        break;
      case "Escape":
        this.#context.select(undefined);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #step(row: SceneRow, selected: Item | undefined, step: 1 | -1): void {
    const items = inOrder(row);
    const { cursorMs, fromMs } = this.#context.state;
    const index = selected === undefined ? -1 : items.findIndex(({ id }) => id === selected.id);
    const next =
      index >= 0
        ? items[index + step]
        : items[
            lowerBound(
              items.map(({ startMs }) => startMs),
              cursorMs ?? fromMs,
            ) - (step === 1 ? 0 : 1)
          ];
    if (next === undefined) this.#context.announce(step === 1 ? "Last run of this row" : "First run of this row");
    else this.#select(next, row);
  }

  #changeRow(row: SceneRow, selected: Item | undefined, step: 1 | -1): void {
    const { rows } = this.#context.scene;
    const atMs = selected?.startMs ?? this.#context.state.cursorMs ?? this.#context.state.fromMs;
    for (let index = rows.indexOf(row) + step; index >= 0 && index < rows.length; index += step) {
      const items = inOrder(rows[index]!);
      if (items.length === 0) continue;
      const after = lowerBound(
        items.map(({ startMs }) => startMs),
        atMs,
      );
      const [before, next] = [items[after - 1], items[after]];
      const nearest =
        next === undefined || (before !== undefined && atMs - before.startMs < next.startMs - atMs) ? before : next;
      this.#select(nearest!, rows[index]!);
      return;
    }
  }
}

/** All bars of a row by their starts. */
function inOrder({ lanes }: SceneRow): readonly Item[] {
  if (lanes.length === 1) return lanes[0]!.items;
  return lanes.flatMap(({ items }) => items).sort((a, b) => a.startMs - b.startMs);
}

function podLine({ exitCode, node, reason }: { exitCode?: number; node?: string; reason?: string }): string {
  return [exitCode === undefined ? "" : `exit code ${exitCode}`, reason ?? "", node === undefined ? "" : `on ${node}`]
    .filter(Boolean)
    .join(", ");
}
