import { select } from "d3-selection";
import { type D3ZoomEvent, zoom, zoomIdentity, zoomTransform } from "d3-zoom";

import type { PageContext } from "./page-context.js";

const SHORTEST_WINDOW_MS = 2_000;
/** Parts of the timeline with a horizontal time axis. */
const TIME_PARTS = ".stage, .axis-box, .concurrency-box";

/** Widths in pixels: the tree on the left, and the time area beside it. */
export interface TimelineSizes {
  readonly gutter: number;
  readonly width: number;
}

export interface WindowZoomOptions {
  readonly element: HTMLElement;
  /** The element that the wheel scrolls when it does not zoom. */
  readonly scroller: HTMLElement;
  readonly context: PageContext;
  readonly sizes: () => TimelineSizes;
  /** Called when the window begins to move under the pointer. */
  readonly onMove: () => void;
}

/** Moves and zooms the time window by drag, wheel and touch. */
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
        // The zoom behaviour counts from the left edge of the element, which includes the tree.
        const fromMs = whole.fromMs - ((x + gutter * (k - 1)) / width) * span;
        context.update({ fromMs, toMs: fromMs + span });
      });
    select(element).call(this.#zoom);
    element.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
  }

  /** Passes the current window and its limits to the zoom behaviour. */
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
    // Sets the transform directly: a call of the behaviour would end an active gesture.
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

  /** Moves the window by a horizontal wheel, or by the wheel with the shift key. */
  #wheeled(event: WheelEvent): void {
    const { context, sizes } = this.#options;
    const delta = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (!event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    if ((event.target as Element).closest(TIME_PARTS) === null) return;
    event.preventDefault();
    context.panBy(delta / sizes().width);
  }
}
