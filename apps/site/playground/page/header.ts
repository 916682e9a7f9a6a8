import { LINK, SUN, h, icon, addListener } from "@kubewright/timeline/page";

import { EXAMPLES } from "./examples/examples.ts";

export interface HeaderOptions {
  readonly onExample: (name: string) => void;
  readonly onShare: () => void;
  readonly onTheme: () => void;
  readonly downloads: HTMLElement;
}

const MARK = "M1.5 8h3M11 8h3.5M8 4.6L11 8 8 11.4 5 8z";

/** The header of the page: title, examples, and downloads. */
export class Header {
  readonly element: HTMLElement;
  readonly #examples: HTMLSelectElement;

  constructor({ onExample, onShare, onTheme, downloads }: HeaderOptions) {
    this.#examples = addListener(
      h(
        "select",
        { class: "examples", "aria-label": "Examples" },
        h("option", { value: "" }, "Examples…"),
        ...EXAMPLES.map(({ name, question }) => h("option", { value: name }, question)),
      ),
      {
        onchange: () => {
          if (this.#examples.value !== "") onExample(this.#examples.value);
        },
      },
    );
    const share = addListener(
      h("button", { type: "button", class: "button primary", title: "Copy a link to all this" }, icon(LINK), "Share"),
      { onclick: onShare },
    );
    const theme = addListener(
      h(
        "button",
        { type: "button", class: "button icon", title: "Dark or light", "aria-label": "Dark or light" },
        icon(SUN),
      ),
      { onclick: onTheme },
    );
    const brand = h("a", { class: "brand", href: "../" }, icon(MARK), h("span", {}, "kubewright"));
    this.element = h(
      "header",
      { class: "page-header" },
      brand,
      h("h1", {}, "Playground"),
      h("p", { class: "tagline" }, "See what Kubernetes will do with your Jobs and CronJobs"),
      this.#examples,
      downloads,
      share,
      theme,
    );
  }

  /** @param name - Name of the unmodified example; empty for the user's own content. */
  set example(name: string) {
    this.#examples.value = name;
  }
}
