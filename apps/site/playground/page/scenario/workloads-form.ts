import { h } from "@kubewright/timeline/page";

import { type EditScenario, redraw, textInput } from "./form-parts.ts";
import type { ScenarioText, Subject } from "./scenario-text.ts";

/** The form for durations and failure rates, which manifests do not contain. */
export class WorkloadsForm {
  readonly element = h("div", { class: "workloads-form" });
  readonly #edit: EditScenario;

  constructor(edit: EditScenario) {
    this.#edit = edit;
  }

  render(scenario: ScenarioText, subjects: readonly Subject[]): void {
    if (subjects.length === 0) {
      redraw(this.element, h("p", { class: "hint" }, "There is no CronJob and no Job yet."));
      return;
    }
    redraw(
      this.element,
      h(
        "p",
        { class: "hint" },
        "A time such as ",
        h("code", {}, "5m"),
        ", a range ",
        h("code", {}, "20m..70m"),
        ", or ",
        h("code", {}, "lognormal(10m, 0.5)"),
        ".",
      ),
      ...subjects.map((subject) => this.#row(scenario, subject)),
    );
  }

  #row(scenario: ScenarioText, subject: Subject): HTMLElement {
    const { kind, namespace, name } = subject;
    const workload = scenario.workload(subject);
    const inherited = scenario.inherited(subject);
    const key = `${kind}/${namespace}/${name}`;
    const title = namespace === "default" ? name : `${namespace}/${name}`;
    return h(
      "div",
      { class: "row" },
      h("span", { class: "subject", title: `${kind} ${namespace}/${name}` }, title),
      textInput(
        workload.duration,
        {
          key: `${key} duration`,
          placeholder: inherited.duration || "as annotated, or 10s",
          label: `How long ${title} runs`,
        },
        (duration) =>
          this.#edit((current) => current.withWorkload(subject, { ...current.workload(subject), duration })),
      ),
      h(
        "label",
        { class: "suffix" },
        textInput(
          workload.failsPercent,
          {
            key: `${key} fails`,
            placeholder: inherited.failsPercent || "0",
            inputmode: "decimal",
            label: `Percent of runs of ${title} that fail`,
          },
          (text) =>
            this.#edit((current) =>
              current.withWorkload(subject, { ...current.workload(subject), failsPercent: percent(text) }),
            ),
        ),
        "% fail",
      ),
    );
  }
}

function percent(text: string): string {
  const value = Number(text.replace("%", ""));
  return text !== "" && value >= 0 && value <= 100 ? String(value) : "";
}
