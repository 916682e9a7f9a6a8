import { h } from "@kubewright/timeline/page";

/** Delay before the progress is shown, so that short runs do not flicker. */
const SHOWN_AFTER_MS = 150;

/** A thin progress bar. */
export class Progress {
  readonly element: HTMLProgressElement;
  #timer = 0;

  constructor(label: string) {
    this.element = h("progress", { class: "progress", max: 1, value: 0, "aria-label": label, hidden: true });
  }

  begin(): void {
    this.end();
    this.element.value = 0;
    this.#timer = window.setTimeout(() => {
      this.element.hidden = false;
    }, SHOWN_AFTER_MS);
  }

  /** @param done - From 0 to 1. */
  set(done: number): void {
    this.element.value = done;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.element.hidden = true;
  }
}
