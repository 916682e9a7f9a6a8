import { h, icon, addListener } from "@kubewright/timeline/page";

import { REMOVE } from "../icons.ts";
import { type EditScenario, choice, labelled, redraw, textInput } from "./form-parts.ts";
import { type ScenarioEvent, OFFERED, type OfferedKind, editOf, isOffered, targetOf } from "./scenario-event.ts";
import type { ScenarioText, Subject } from "./scenario-text.ts";

const CONTROLLERS: readonly (readonly [string, string])[] = [
  ["all", "all of it"],
  ["cronjob-controller", "CronJob controller"],
  ["job-controller", "Job controller"],
  ["ttl-after-finished-controller", "TTL controller"],
  ["garbage-collector-controller", "garbage collector"],
  ["pod-garbage-collector-controller", "pod garbage collector"],
];
const EDITABLE = [
  "schedule",
  "timeZone",
  "concurrencyPolicy",
  "startingDeadlineSeconds",
  "suspend",
  "parallelism",
  "completions",
  "backoffLimit",
];

/** The form for scenario events and their times. */
export class ScenarioEventsForm {
  readonly element = h("div", { class: "events-form" });
  readonly #edit: EditScenario;
  #subjects: readonly Subject[] = [];

  constructor(edit: EditScenario) {
    this.#edit = edit;
  }

  render(scenario: ScenarioText, subjects: readonly Subject[]): void {
    this.#subjects = subjects;
    const { events: scenarioEvents } = scenario;
    redraw(
      this.element,
      ...scenarioEvents.map((scenarioEvent, index) => this.#row(scenarioEvent, index)),
      h(
        "div",
        { class: "add" },
        ...Object.entries(OFFERED).map(([kind, { label }]) =>
          addListener(h("button", { type: "button", class: "chip", "data-key": `add ${kind}` }, `+ ${label}`), {
            onclick: () =>
              this.#edit((current) =>
                current.withScenarioEvent(current.events.length, this.#first(kind as OfferedKind)),
              ),
          }),
        ),
      ),
    );
  }

  #row(scenarioEvent: ScenarioEvent, index: number): HTMLElement {
    const { at, for: lasting, kind } = scenarioEvent;
    const set = (change: Partial<ScenarioEvent>): void =>
      this.#edit((current) => current.withScenarioEvent(index, { ...current.events[index]!, ...change }));
    const key = (name: string): string => `${index} ${name}`;
    const remove = addListener(
      h(
        "button",
        { type: "button", class: "button icon quiet", "data-key": key("remove"), title: "Remove" },
        icon(REMOVE),
      ),
      { onclick: () => this.#edit((current) => current.withoutScenarioEvent(index)) },
    );
    const name = isOffered(kind) ? OFFERED[kind].label : kind;
    remove.setAttribute("aria-label", `Remove: ${name}`);
    const duration = isOffered(kind) ? OFFERED[kind].duration : "optional";
    return h(
      "fieldset",
      { class: "scenario-event" },
      h("legend", {}, name),
      remove,
      labelled(
        "At",
        textInput(at, { key: key("at"), placeholder: "+6h" }, (value) => set({ at: value })),
      ),
      duration !== "never" &&
        labelled(
          "For",
          textInput(lasting, { key: key("for"), placeholder: duration === "required" ? "1h" : "to the end" }, (value) =>
            set({ for: value === "" && duration === "required" ? "1h" : value }),
          ),
        ),
      ...(isOffered(kind)
        ? this.#value(kind, scenarioEvent.value, key, (value) => set({ value }))
        : [h("p", { class: "hint" }, "The rest of it is in scenario.yaml.")]),
    );
  }

  #value(
    kind: OfferedKind,
    value: unknown,
    key: (name: string) => string,
    set: (value: unknown) => void,
  ): readonly HTMLElement[] {
    const { value: takes } = OFFERED[kind];
    if (takes === "none") return [];
    if (takes === "controller")
      return [labelled("What", choice(String(value), CONTROLLERS, { key: key("what") }, set), "wide")];
    if (takes === "node")
      return [labelled("Which", textInput(String(value), { key: key("node"), placeholder: "node-1" }, set))];
    if (takes === "object") return [this.#target(value, key, (target) => set(target))];
    const edit = editOf(value);
    const target = this.#target(value, key, (chosen) => set({ ...chosen, with: (value as { with?: unknown }).with }));
    if (edit === undefined) return [target, h("p", { class: "hint" }, "The edit itself is in scenario.yaml.")];
    const write = (field: string, to: string): void =>
      set({ ...(value as object), with: { spec: { [field]: scalar(to) } } });
    return [
      target,
      labelled(
        "Field",
        choice(
          edit.field,
          EDITABLE.map((field) => [field, field]),
          { key: key("field") },
          (field) => write(field, edit.to),
        ),
      ),
      labelled(
        "Becomes",
        textInput(edit.to, { key: key("to") }, (to) => write(edit.field, to)),
      ),
    ];
  }

  #target(value: unknown, key: (name: string) => string, set: (target: object) => void): HTMLElement {
    const options = this.#subjects.map((subject): [string, string] => [
      idOf(subject),
      subject.namespace === "default" ? subject.name : `${subject.namespace}/${subject.name}`,
    ]);
    return labelled(
      "Whom",
      choice(idOf(targetOf(value)), options, { key: key("whom") }, (id) => {
        const [kind = "", namespace = "", name = ""] = id.split("/");
        set(target({ kind, namespace, name }));
      }),
      "wide",
    );
  }

  #first(kind: OfferedKind): ScenarioEvent {
    const subject = this.#subjects[0] ?? { kind: "CronJob", namespace: "default", name: "name-it" };
    const field = subject.kind === "CronJob" ? { schedule: "*/30 * * * *" } : { parallelism: 2 };
    const value: Record<OfferedKind, unknown> = {
      controllerDown: "all",
      apiServerDown: "all",
      nodeLost: "node-1",
      suspend: target(subject),
      patch: { ...target(subject), with: { spec: field } },
    };
    return { at: "+6h", for: OFFERED[kind].duration === "never" ? "" : "3h", kind, value: value[kind] };
  }
}

function target({ kind, namespace, name }: Subject): object {
  return { kind, ...(namespace === "default" ? {} : { namespace }), name };
}

function idOf({ kind, namespace, name }: Subject): string {
  return `${kind}/${namespace}/${name}`;
}

/** Parses the few scalar types of these fields like YAML. */
function scalar(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^\d+$/.test(text) ? Number(text) : text;
}
