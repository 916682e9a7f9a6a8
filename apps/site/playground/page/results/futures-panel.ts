import { h, addListener } from "@kubewright/timeline/page";
import type { FuturesResult } from "@kubewright/analysis/browser";

import { MAX_FUTURES } from "../state/playground-state.ts";
import { Progress } from "./progress.ts";
import { Timeline } from "./timeline.ts";

export interface FuturesOptions {
  readonly simulate: (count: number, onProgress: (done: number) => void, signal: AbortSignal) => Promise<FuturesResult>;
  readonly onCount: (count: number) => void;
}

/** The panel of futures: outcomes with other seeds, and how often each occurs. */
export class FuturesPanel {
  readonly element: HTMLElement;
  readonly timeline = new Timeline();
  readonly #options: FuturesOptions;
  readonly #slider: HTMLInputElement;
  readonly #count: HTMLInputElement;
  readonly #start: HTMLButtonElement;
  readonly #cancel: HTMLButtonElement;
  readonly #progress = new Progress("Futures simulated");
  readonly #status = h("p", { class: "hint", role: "status" });
  readonly #lead = h(
    "p",
    { class: "placeholder" },
    "One run is one future: durations and failures are random. Simulate many to see how often each outcome occurs.",
  );
  readonly #summary = h("pre", { class: "summary", tabindex: 0, "aria-label": "What kubewright run --seeds prints" });
  #stop: AbortController | undefined;

  constructor(options: FuturesOptions) {
    this.#options = options;
    const range = { min: 1, max: MAX_FUTURES };
    this.#slider = addListener(h("input", { type: "range", ...range, "aria-label": "How many futures" }), {
      oninput: () => this.#set(Number(this.#slider.value)),
    });
    this.#count = addListener(h("input", { type: "number", ...range, "aria-label": "How many futures, as a number" }), {
      onchange: () => this.#set(Number(this.#count.value)),
    });
    this.#start = addListener(h("button", { type: "button", class: "button primary" }), {
      onclick: () => void this.#simulate(),
    });
    this.#cancel = addListener(h("button", { type: "button", class: "button", hidden: true }, "Cancel"), {
      onclick: () => this.cancel(),
    });
    this.timeline.element.hidden = true;
    const printed = h(
      "details",
      { class: "printed", hidden: true },
      h("summary", {}, "As the command prints it"),
      this.#summary,
    );
    this.#printed = printed;
    this.element = h(
      "div",
      { class: "panel futures" },
      h("div", { class: "futures-bar" }, this.#slider, this.#count, this.#start, this.#cancel, this.#status),
      this.#progress.element,
      this.#lead,
      this.timeline.element,
      printed,
    );
  }

  readonly #printed: HTMLElement;

  set count(count: number) {
    this.#slider.value = String(count);
    this.#count.value = String(count);
    this.#start.textContent = count === 1 ? "Simulate 1 future" : `Simulate ${count.toLocaleString("en")} futures`;
  }

  /** Marks the results as outdated after a change of the input. */
  outdate(): void {
    this.cancel();
    if (this.timeline.element.hidden) return;
    this.element.classList.add("is-old");
    this.#status.textContent = "Changed since";
  }

  cancel(): void {
    this.#stop?.abort();
  }

  #set(count: number): void {
    const fitting = Math.min(MAX_FUTURES, Math.max(1, Math.round(count) || 1));
    this.count = fitting;
    this.#options.onCount(fitting);
  }

  async #simulate(): Promise<void> {
    this.cancel();
    const stop = new AbortController();
    this.#stop = stop;
    this.#setBusy(true);
    this.#status.textContent = "Simulating…";
    this.#progress.begin();
    const count = Number(this.#slider.value);
    const started = performance.now();
    try {
      const result = await this.#options.simulate(count, (done) => this.#progress.set(done), stop.signal);
      this.#show(result, count, performance.now() - started);
    } catch (error) {
      if (this.#stop === stop) this.#status.textContent = stop.signal.aborted ? "Cancelled" : (error as Error).message;
    } finally {
      if (this.#stop === stop) {
        this.#progress.end();
        this.#setBusy(false);
        this.#stop = undefined;
      }
    }
  }

  #show({ report, summary, problems }: FuturesResult, count: number, tookMs: number): void {
    if (report === undefined) {
      this.#status.textContent = problems[0]?.message ?? "Nothing to simulate";
      return;
    }
    this.#status.textContent = `${count.toLocaleString("en")} futures in ${(tookMs / 1000).toFixed(1)} s`;
    this.element.classList.remove("is-old");
    this.timeline.element.hidden = false;
    this.#lead.hidden = true;
    this.#printed.hidden = false;
    this.timeline.show(report);
    this.#summary.textContent = summary;
  }

  #setBusy(isBusy: boolean): void {
    // Moves the focus to the button that replaces the pressed one.
    const hadFocus = document.activeElement;
    this.#start.hidden = isBusy;
    this.#cancel.hidden = !isBusy;
    if (hadFocus === this.#start || hadFocus === this.#cancel) (isBusy ? this.#cancel : this.#start).focus();
  }
}
