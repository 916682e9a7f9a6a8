import { h, icon, addListener } from "@kubewright/timeline/page";

import { DICE } from "../icons.ts";
import { type EditScenario, choice, labelled, redraw, textInput } from "./form-parts.ts";
import { RELEASES } from "./releases.ts";
import type { PlainField, ScenarioText } from "./scenario-text.ts";
import { zones } from "./zones.ts";

const LENGTHS: readonly (readonly [string, string])[] = [
  ["", "1 day"],
  ["6h", "6 hours"],
  ["3d", "3 days"],
  ["7d", "a week"],
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["365d", "a year"],
];
const MAX_SEED = 4_294_967_295;

/** The form for the simulated window, the seed and the Kubernetes release. */
export class WindowForm {
  readonly element = h("div", { class: "window-form" });
  readonly #zones = h("datalist", { id: "zones" }, ...zones().map((zone) => h("option", { value: zone })));
  readonly #edit: EditScenario;
  readonly #defaultStart: string;
  readonly #onKubernetes: (release: string) => void;

  /**
   * @param defaultStart - Start of a scenario without one, in RFC 3339.
   * @param onKubernetes - Receives the chosen release, which is not part of a scenario.
   */
  constructor(edit: EditScenario, defaultStart: string, onKubernetes: (release: string) => void) {
    this.#edit = edit;
    this.#defaultStart = defaultStart;
    this.#onKubernetes = onKubernetes;
  }

  render(scenario: ScenarioText, kubernetes: string): void {
    const set =
      (field: PlainField) =>
      (value: string): void =>
        this.#edit((current) => current.withField(field, value));
    const length = scenario.field("for");
    const seed = scenario.field("seed");
    const another = addListener(
      h(
        "button",
        {
          type: "button",
          class: "button icon",
          "data-key": "dice",
          title: "Another seed: other durations and failures",
        },
        icon(DICE),
      ),
      { onclick: () => set("seed")(String(((Number(seed) || 1) % MAX_SEED) + 1)) },
    );
    another.setAttribute("aria-label", "Another seed");
    redraw(
      this.element,
      labelled(
        "Start, in UTC",
        textInput(
          localOf(scenario.field("start") || this.#defaultStart),
          { key: "start", type: "datetime-local" },
          (value) => set("start")(startOf(value, this.#defaultStart)),
        ),
      ),
      labelled("For", choice(length === "1d" ? "" : length, LENGTHS, { key: "for" }, set("for"))),
      h(
        "div",
        { class: "with-button" },
        labelled(
          "Seed",
          textInput(seed, { key: "seed", type: "number", placeholder: "1", min: 0, max: MAX_SEED }, (value) =>
            set("seed")(/^\d+$/.test(value) && Number(value) <= MAX_SEED ? value : ""),
          ),
        ),
        another,
      ),
      labelled(
        "Default time zone",
        textInput(scenario.field("timeZone"), { key: "zone", placeholder: "UTC", list: "zones" }, set("timeZone")),
      ),
      labelled("Kubernetes", choice(kubernetes, RELEASES, { key: "kubernetes" }, this.#onKubernetes), "wide"),
      this.#zones,
    );
  }
}

/** Returns the value of a datetime-local input: a time without a zone. */
function localOf(start: string): string {
  const milliseconds = Date.parse(start);
  return Number.isNaN(milliseconds) ? "" : new Date(milliseconds).toISOString().slice(0, 16);
}

/** Returns the start for the scenario: empty for the default. */
function startOf(local: string, defaultStart: string): string {
  const milliseconds = Date.parse(`${local}Z`);
  if (Number.isNaN(milliseconds)) return "";
  const start = new Date(milliseconds).toISOString().replace(".000Z", "Z");
  return start === defaultStart ? "" : start;
}
