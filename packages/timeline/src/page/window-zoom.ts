import { select } from "d3-selection";
import { type D3ZoomEvent, zoom, zoomIdentity, zoomTransform } from "d3-zoom";

import type { PageContext } from "./page-context.js";

const SHORTEST_WINDOW_MS = 2_000;
/** Parts of the timeline that show time from left to right. */
const TIME_PARTS = ".stage, .axis-box, .concurrency-box";

/** Pixels of the timeline: the tree at its left, and the rest, where time passes. */
export interface TimelineSizes {
  readonly gutter: number;
  readonly width: number;
}

export interface WindowZoomOptions {
  readonly element: HTMLElement;
  /** What the wheel scrolls, unless it zooms. */
  readonly scroller: HTMLElement;
  readonly context: PageContext;
  readonly sizes: () => TimelineSizes;
  /** The window begins to move under the pointer. */
  readonly onMove: () => void;
}

/** Moves and zooms the window of time by drag, wheel and touch. */
export class WindowZoom {
  readonly #options: WindowZoomOptions;
  readonly #zoom = zoom<HTMLElement, unknown>();

  constructor(options: WindowZoomOptions) {
    this.#options = options;
    const { element, context, sizes, onMove } = options;
    this.#zoom
      .clickDistance(4)
      .filter((event: Event) => this.#isZoom(event))
      .on("zoom", (event: D3ZoomEvent<HTMLElement, unknown>) => {
        if (event.sourceEvent === null) return;
        onMove();
        const { whole } = context;
        const { gutter, width } = sizes();
        const { k, x } = event.transform;
        const span = (whole.toMs - whole.fromMs) / k;
        // The behaviour counts from the left edge of the element, where the tree is.
        const fromMs = whole.fromMs - ((x + gutter * (k - 1)) / width) * span;
        context.update({ fromMs, toMs: fromMs + span });
      });
    select(element).call(this.#zoom);
    element.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
  }

  /** Tells the behaviour what the window is, and how far it may go. */
  sync(): void {
    const { element, context, sizes } = this.#options;
    const { state, whole } = context;
    const { gutter, width } = sizes();
    const span = state.toMs - state.fromMs;
    const k = (whole.toMs - whole.fromMs) / span;
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
    const current = zoomTransform(element);
    if (Math.abs(current.k / k - 1) < 1e-9 && Math.abs(current.x - x) < 0.01) return;
    // Not through the behaviour: that would end a gesture that is under way.
    (element as HTMLElement & { __zoom?: unknown }).__zoom = zoomIdentity.translate(x, 0).scale(k);
  }

  #isZoom(event: Event): boolean {
    const { scroller } = this.#options;
    const target = event.target as Element;
    if (target.closest(TIME_PARTS) === null || (event as MouseEvent).button > 0) return false;
    if (!(event instanceof WheelEvent)) return true;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return false;
    const canScroll = scroller.scrollHeight > scroller.clientHeight + 1;
    return event.ctrlKey || event.metaKey || !canScroll || target.closest(".stage") === null;
  }

  /** Sideways, or with shift, the wheel moves the window. */
  #wheeled(event: WheelEvent): void {
    const { context, sizes } = this.#options;
    const delta = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    if ((event.target as Element).closest(TIME_PARTS) === null) return;
    event.preventDefault();
    context.panBy(delta / sizes().width);
  }
}
