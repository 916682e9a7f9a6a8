import { h, icon, addListener } from "@kubewright/timeline/page";

import { COPY, DOWNLOAD } from "./icons.ts";
import { Menu } from "./menu.ts";

export interface DownloadsOptions {
  readonly onReport: () => void;
  readonly onTrace: () => void;
  readonly onManifests: () => void;
  readonly onScenario: () => void;
  readonly onCopyCommand: () => void;
}

/** The menu of downloads, with the command that reproduces the simulation locally. */
export class Downloads {
  readonly menu: Menu;
  readonly #scenario: HTMLButtonElement;
  readonly #command = h("code", {});

  constructor({ onReport, onTrace, onManifests, onScenario, onCopyCommand }: DownloadsOptions) {
    const item = (name: string, what: string, onclick: () => void): HTMLButtonElement =>
      addListener(
        h("button", { type: "button", class: "menu-item" }, h("b", {}, name), h("span", { class: "muted" }, what)),
        {
          onclick: () => {
            this.menu.close();
            onclick();
          },
        },
      );
    this.#scenario = item("scenario.yaml", "window, durations and what goes wrong", onScenario);
    const copy = addListener(
      h(
        "button",
        { type: "button", class: "button icon", title: "Copy the command", "aria-label": "Copy the command" },
        icon(COPY),
      ),
      { onclick: onCopyCommand },
    );
    this.menu = new Menu(
      "Download",
      [icon(DOWNLOAD), h("span", { class: "wide-only" }, "Download")],
      [
        item("report.html", "the timeline in one file, for a ticket", onReport),
        item("trace.jsonl", "all that happened, for other programs", onTrace),
        item("manifests.yaml", "what is written here", onManifests),
        this.#scenario,
        h("p", { class: "menu-title" }, "The same on your machine"),
        h("div", { class: "command" }, this.#command, copy),
      ],
    );
  }

  render(command: string, hasScenario: boolean): void {
    this.#command.textContent = command;
    this.#scenario.hidden = !hasScenario;
  }
}
