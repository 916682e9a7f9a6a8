import { h, addListener } from "@kubewright/timeline/page";

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly panel: HTMLElement;
}

/** Tabs according to WAI-ARIA: one tab stop, and arrow keys between the tabs. */
export class Tabs {
  readonly element: HTMLElement;
  readonly #buttons = new Map<string, HTMLButtonElement>();
  readonly #tabs: readonly Tab[];
  readonly #onSelect: (id: string) => void;
  #selected = "";

  constructor(label: string, tabs: readonly Tab[], onSelect: (id: string) => void = () => {}) {
    this.#tabs = tabs;
    this.#onSelect = onSelect;
    for (const { id, label: name, panel } of tabs) {
      panel.id = `panel-${id}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${id}`);
      const tab = h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": panel.id }, name);
      this.#buttons.set(id, addListener(tab, { onclick: () => this.select(id) }));
    }
    this.element = addListener(
      h("div", { class: "tabs", role: "tablist", "aria-label": label }, ...this.#buttons.values()),
      {
        onkeydown: (event) => this.#move(event),
      },
    );
    this.select(tabs[0]!.id);
  }

  get selected(): string {
    return this.#selected;
  }

  select(id: string): void {
    if (id === this.#selected) return;
    this.#selected = id;
    for (const { id: other, panel } of this.#tabs) {
      const isSelected = other === id;
      panel.hidden = !isSelected;
      const button = this.#buttons.get(other)!;
      button.setAttribute("aria-selected", String(isSelected));
      button.tabIndex = isSelected ? 0 : -1;
    }
    this.#onSelect(id);
  }

  /** @param mark - Text after the label, such as a number; empty for none. */
  mark(id: string, mark: string, meaning = ""): void {
    const button = this.#buttons.get(id)!;
    const { label } = this.#tabs.find((tab) => tab.id === id)!;
    button.replaceChildren(label, ...(mark === "" ? [] : [h("span", { class: "mark", title: meaning }, mark)]));
  }

  #move(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const ids = this.#tabs.map(({ id }) => id);
    const next = ids[(ids.indexOf(this.#selected) + by + ids.length) % ids.length]!;
    this.select(next);
    this.#buttons.get(next)!.focus();
    event.preventDefault();
  }
}
