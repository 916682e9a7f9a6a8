import { h, addListener } from "@kubewright/timeline/page";

const MIN_PERCENT = 25;
const MAX_PERCENT = 65;
const STEP = 2;

/**
 * A separator between two columns that is moved by dragging or with the arrow keys. Its position is a percentage of the
 * width.
 */
export class Split {
  readonly element: HTMLElement;
  readonly #columns: HTMLElement;
  #percent = 38;

  constructor(columns: HTMLElement) {
    this.#columns = columns;
    this.element = addListener(
      h("div", {
        class: "split",
        role: "separator",
        tabindex: 0,
        "aria-label": "Width of the editor",
        "aria-orientation": "vertical",
        "aria-valuemin": MIN_PERCENT,
        "aria-valuemax": MAX_PERCENT,
      }),
      {
        onpointerdown: (event) => this.element.setPointerCapture(event.pointerId),
        onpointermove: (event) => {
          if (!this.element.hasPointerCapture(event.pointerId)) return;
          const { left, width } = this.#columns.getBoundingClientRect();
          this.#set(((event.clientX - left) / width) * 100);
        },
        onkeydown: (event) => {
          const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          this.#set(this.#percent + by);
        },
      },
    );
    this.#set(this.#percent);
  }

  #set(percent: number): void {
    this.#percent = Math.min(MAX_PERCENT, Math.max(MIN_PERCENT, percent));
    this.#columns.style.setProperty("--editor-width", `${this.#percent}%`);
    this.element.setAttribute("aria-valuenow", String(Math.round(this.#percent)));
  }
}
