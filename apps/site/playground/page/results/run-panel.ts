import { h } from "@kubewright/timeline/page";
import type { SimulationResult } from "@kubewright/analysis/browser";

import { Timeline, placeholder } from "./timeline.ts";

/** The result of a run: its timeline, and the output of the command. */
export class RunPanel {
  readonly timelinePanel: HTMLElement;
  readonly summaryPanel: HTMLElement;
  readonly timeline = new Timeline();
  readonly #nothing = placeholder("Loading the engine…");
  readonly #summary = h("pre", { class: "summary", tabindex: 0, "aria-label": "What kubewright run prints" });

  constructor() {
    this.timeline.element.hidden = true;
    this.timelinePanel = h("div", { class: "panel" }, this.#nothing, this.timeline.element);
    this.summaryPanel = h("div", { class: "panel" }, this.#summary);
  }

  /**
   * Shows a result. Without a report the previous one stays, faded, because the user may be in the middle of an edit.
   */
  show({ report, summary }: SimulationResult): void {
    const hasReport = report !== undefined;
    if (hasReport) {
      this.timeline.show(report);
      this.timeline.element.hidden = false;
      this.#nothing.hidden = true;
      this.#summary.textContent = summary;
    } else this.showStatus("No simulation yet: see the problems of the files.");
    this.timelinePanel.classList.toggle("is-old", !hasReport);
    this.summaryPanel.classList.toggle("is-old", !hasReport);
  }

  showStatus(text: string): void {
    this.#nothing.textContent = text;
  }
}
