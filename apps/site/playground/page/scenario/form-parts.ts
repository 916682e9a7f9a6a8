import { h, addListener } from "@kubewright/timeline/page";

import type { ScenarioText } from "./scenario-text.ts";

/** Applies an edit to the current scenario. */
export type EditScenario = (edit: (scenario: ScenarioText) => string) => void;

interface TextOptions {
  readonly placeholder?: string;
  readonly list?: string;
  /** Identifies the input across redraws of the form, so that it keeps the focus. */
  readonly key: string;
  readonly type?: string;
  readonly inputmode?: string;
  readonly label?: string;
  readonly min?: number;
  readonly max?: number;
}

export function textInput(value: string, options: TextOptions, onchange: (value: string) => void): HTMLInputElement {
  const { placeholder, list, key, type = "text", inputmode, label, min, max } = options;
  const input = h("input", {
    type,
    placeholder,
    list,
    inputmode,
    min,
    max,
    "data-key": key,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
  });
  input.value = value;
  return addListener(input, { onchange: () => onchange(input.value.trim()) });
}

export function choice(
  value: string,
  options: readonly (readonly [value: string, label: string])[],
  { key, label }: { readonly key: string; readonly label?: string },
  onchange: (value: string) => void,
): HTMLSelectElement {
  const all = options.some(([known]) => known === value) ? options : [...options, [value, value] as const];
  const select = h(
    "select",
    { "data-key": key, "aria-label": label },
    ...all.map(([known, name]) => h("option", { value: known, selected: known === value }, name)),
  );
  return addListener(select, { onchange: () => onchange(select.value) });
}

export function labelled(label: string, input: HTMLElement, className = ""): HTMLLabelElement {
  return h("label", { class: `field ${className}`.trim() }, h("span", {}, label), input);
}

/** Redraws a form and restores the focus. */
export function redraw(form: HTMLElement, ...content: readonly Node[]): void {
  const key = form.contains(document.activeElement)
    ? (document.activeElement as HTMLElement).dataset["key"]
    : undefined;
  form.replaceChildren(...content);
  if (key !== undefined) form.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}
