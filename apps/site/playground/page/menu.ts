import { h, addListener } from "@kubewright/timeline/page";

/** A button that opens a box below it. Escape and a click outside of it close the box. */
export class Menu {
  readonly element: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #box: HTMLElement;

  constructor(name: string, label: readonly (Node | string)[], content: readonly Node[]) {
    this.#box = h("div", { class: "menu-box", hidden: true }, ...content);
    this.#button = addListener(
      h("button", { type: "button", class: "button", "aria-expanded": "false", title: name }, ...label),
      {
        onclick: () => this.#toggle(this.#box.hidden !== false),
      },
    );
    this.element = addListener(h("div", { class: "menu" }, this.#button, this.#box), {
      onkeydown: ({ key }) => {
        if (key !== "Escape" || this.#box.hidden) return;
        this.close();
        this.#button.focus();
      },
    });
    document.addEventListener("pointerdown", (event) => {
      if (!event.composedPath().includes(this.element)) this.close();
    });
  }

  close(): void {
    this.#toggle(false);
  }

  #toggle(isOpen: boolean): void {
    this.#box.hidden = !isOpen;
    this.#button.setAttribute("aria-expanded", String(isOpen));
  }
}
