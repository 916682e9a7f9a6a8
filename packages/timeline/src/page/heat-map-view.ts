import type { LoadRow } from "../data/spread-report.js";
import { h, addListener } from "./dom.js";
import { type LevelKind, levelText } from "./level-text.js";
import { svg } from "./svg.js";

export interface HeatMapOptions {
  readonly title: string;
  readonly kind: LevelKind;
  /** The level of the darkest shade. Two maps with the same value are comparable. */
  readonly max: number;
  /** Returns the label above a column, or `undefined` for none. */
  readonly ruler: (column: number) => string | undefined;
  /** Reports the cell under the pointer, or `undefined`. */
  readonly onPoint: (cell: { readonly row: number; readonly column: number } | undefined) => void;
}

const ROW = 15;
const TOP = 18;
const RIGHT = 64;
const CHARACTER = 6.6;
/** Minimum label width in characters, so that maps with short labels have the same left edge. */
const MIN_LABEL_LENGTH = 8;

/** A heat map: higher levels are darker. */
export class HeatMapView {
  readonly element: HTMLElement;
  readonly #rows: readonly LoadRow[];
  readonly #options: HeatMapOptions;
  readonly #left: number;
  readonly #box: HTMLElement;
  #width = 0;

  constructor(rows: readonly LoadRow[], options: HeatMapOptions) {
    this.#rows = rows;
    this.#options = options;
    this.#left = Math.max(MIN_LABEL_LENGTH, ...rows.map(({ label }) => label.length)) * CHARACTER + 6;
    this.#box = addListener(h("div", { class: "map", role: "img", "aria-label": this.#summary }), {
      onpointermove: (event) => options.onPoint(this.#cellAt(event)),
      onpointerleave: () => options.onPoint(undefined),
    });
    this.element = h("figure", {}, h("figcaption", {}, options.title), this.#box);
    new ResizeObserver(() => this.#measure()).observe(this.#box);
  }

  get #columns(): number {
    return this.#rows[0]?.levels.length ?? 0;
  }

  get #cellWidth(): number {
    return Math.max(1, (this.#width - this.#left - RIGHT) / this.#columns);
  }

  get #summary(): string {
    const { title, kind } = this.#options;
    const highest = Math.max(...this.#rows.flatMap(({ levels }) => levels));
    const row = this.#rows.find(({ levels }) => levels.includes(highest));
    return `${title}: at most ${levelText(kind, highest)}, first at ${row?.label ?? ""}`;
  }

  #measure(): void {
    const width = this.#box.clientWidth;
    if (width === this.#width || width === 0) return;
    this.#width = width;
    const height = TOP + this.#rows.length * ROW + 2;
    this.#box.replaceChildren(
      svg(
        "svg",
        { class: "heat", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
        ...this.#ruler(),
        ...this.#rows.flatMap((row, index) => this.#row(row, TOP + index * ROW)),
      ),
    );
  }

  #ruler(): SVGElement[] {
    return Array.from({ length: this.#columns }, (_, column) => ({
      column,
      text: this.#options.ruler(column),
    })).flatMap(({ column, text }) => (text === undefined ? [] : [svg("text", { x: this.#x(column), y: 11 }, text)]));
  }

  #row({ label, levels }: LoadRow, top: number): SVGElement[] {
    const { max, kind } = this.#options;
    const width = this.#cellWidth;
    const highest = Math.max(...levels);
    return [
      svg("text", { class: "label", x: this.#left - 6, y: top + 11, "text-anchor": "end" }, label),
      svg("rect", { class: "nothing", x: this.#left, y: top, width: width * levels.length, height: ROW - 1 }),
      ...levels.flatMap((level, column) =>
        level === 0
          ? []
          : [
              svg("rect", {
                x: this.#x(column),
                y: top,
                // Wide cells have a line between them.
                width: width > 4 ? width - 0.6 : width,
                height: ROW - 1,
                "fill-opacity": (0.14 + 0.86 * (level / max)).toFixed(2),
              }),
            ],
      ),
      ...(highest === 0 ? [] : [svg("text", { x: this.#x(levels.length) + 6, y: top + 11 }, levelText(kind, highest))]),
    ];
  }

  #x(column: number): number {
    return this.#left + column * this.#cellWidth;
  }

  #cellAt({ clientX, clientY }: PointerEvent): { row: number; column: number } | undefined {
    const box = this.#box.getBoundingClientRect();
    const column = Math.floor((clientX - box.left - this.#left) / this.#cellWidth);
    const row = Math.floor((clientY - box.top - TOP) / ROW);
    const isInside = column >= 0 && column < this.#columns && row >= 0 && row < this.#rows.length;
    return isInside ? { row, column } : undefined;
  }
}
