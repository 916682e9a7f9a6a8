import { type KubewrightTimelineElement, type PageData, defineKubewrightTimeline } from "@kubewright/timeline";
import { h } from "@kubewright/timeline/page";

/** The timeline of a run, or the figures of many runs, as in kubewright's reports. */
export class Timeline {
  readonly element: KubewrightTimelineElement;

  constructor() {
    defineKubewrightTimeline();
    this.element = document.createElement("kubewright-timeline") as KubewrightTimelineElement;
    this.element.className = "timeline-element";
  }

  show(data: PageData): void {
    this.element.data = data;
  }

  set theme(theme: "light" | "dark") {
    this.element.theme = theme;
  }
}

/** Creates the text that is shown before the first result. */
export function placeholder(text: string): HTMLElement {
  return h("p", { class: "placeholder" }, text);
}
