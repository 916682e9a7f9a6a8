import { button, h, icon, addListener } from "./dom.js";
import { LINK, SUN } from "./icons.js";
import { type Look, LOOK_NAMES } from "./item.js";
import type { PageContext } from "./page-context.js";
import { offeredZones } from "./zoned-time.js";
import { type PageEnvironment, partTag } from "./page-environment.js";

const CHIPS: readonly Look[] = ["complete", "failed", "running", "waiting", "stopped", "skipped"];
/** Looks without a chip while no item has them. */
const OPTIONAL_CHIPS: ReadonlySet<Look> = new Set(["running", "waiting", "stopped"]);

/** The toolbar: filters, the choice of view, and controls of the whole page. */
export class Toolbar {
  readonly header: HTMLElement;
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #search: HTMLInputElement;
  readonly #namespaces: HTMLSelectElement;
  readonly #zones: HTMLSelectElement;
  readonly #chips = new Map<Look, { button: HTMLButtonElement; count: HTMLElement }>();
  readonly #failedPods: { readonly button: HTMLButtonElement; readonly count: HTMLElement };
  readonly #views: readonly HTMLButtonElement[];
  readonly #help: HTMLDialogElement;
  readonly #facts = h("p", { class: "facts" });
  #shown = "";

  constructor(context: PageContext, playback: HTMLElement) {
    this.#context = context;
    const { environment } = context;
    const { update } = { update: context.update.bind(context) };
    this.#search = addListener(
      h("input", {
        type: "search",
        placeholder: "Name or reason",
        "aria-label": "Filter by name or reason",
        spellcheck: "false",
      }),
      { oninput: () => update({ text: this.#search.value }) },
    );
    this.#namespaces = addListener(h("select", { "aria-label": "Namespace" }), {
      onchange: () => update({ namespace: this.#namespaces.value }),
    });
    this.#zones = addListener(h("select", { "aria-label": "Time zone" }), {
      onchange: () => update({ zone: this.#zones.value }),
    });
    const failedCount = h("span", { class: "count" });
    const failedPods = h(
      "button",
      { type: "button", class: "pod-filter look failed", title: "Show only: failed pods, and the runs that have them" },
      "Failed pods ",
      failedCount,
    );
    addListener(failedPods, { onclick: () => update({ failedPods: !context.state.failedPods }) });
    this.#failedPods = { button: failedPods, count: failedCount };
    this.#views = (["timeline", "table"] as const).map((view) =>
      addListener(h("button", { type: "button", "data-view": view }, view === "timeline" ? "Timeline" : "Table"), {
        onclick: () => update({ view }),
      }),
    );
    this.#help = helpDialog(environment);
    const theme = button("", "Dark or light (D)", () => this.toggleTheme(), "button icon");
    theme.append(icon(SUN));
    const link = button("", "Copy a link to what is shown here", () => void this.#copyLink(), "button icon");
    link.append(icon(LINK));
    this.header = h(
      partTag(environment, "header"),
      { class: "page-header" },
      !environment.isEmbedded && h("h1", { class: "title" }, "kubewright"),
      this.#facts,
      h("div", { class: "segmented", role: "group", "aria-label": "View" }, ...this.#views),
      environment.address.link !== undefined && link,
      !environment.isEmbedded && theme,
      button("?", "Keys (?)", () => this.#help.showModal(), "button icon"),
      this.#help,
    );
    this.element = h(
      "section",
      { class: "toolbar", "aria-label": "Filters and time" },
      this.#search,
      this.#namespaces,
      h(
        "div",
        { class: "chips", role: "group", "aria-label": "Outcomes" },
        ...CHIPS.map((look) => this.#chip(look)),
        this.#failedPods.button,
      ),
      h("span", { class: "spacer" }),
      // Grouped, so that they wrap together on narrow screens.
      h(
        "div",
        { class: "time-controls" },
        playback,
        this.#zones,
        h(
          "div",
          { class: "segmented", role: "group", "aria-label": "Zoom" },
          button("−", "Zoom out (−)", () => context.zoomBy(1 / 2), ""),
          button("+", "Zoom in (+)", () => context.zoomBy(2), ""),
          button("All", "All: the whole time (0)", () => update(context.whole), ""),
        ),
      ),
    );
  }

  /** @param version - Changes when the data or the filter changes. */
  render(facts: readonly string[], version: number): void {
    const { state, data, scene } = this.#context;
    const shown = `${version} ${state.zone} ${state.view} ${facts.join("\n")}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#facts.replaceChildren(...facts.map((fact) => h("span", {}, fact)));
    if (this.#search.value !== state.text) this.#search.value = state.text;
    const namespaces = [...new Set(data.groups.map(({ namespace }) => namespace))].sort();
    fillSelect(
      this.#namespaces,
      [["", "All namespaces"], ...namespaces.map((name): [string, string] => [name, name])],
      state.namespace,
    );
    this.#namespaces.hidden = namespaces.length < 2 && state.namespace === "";
    const used = data.groups.flatMap(({ cronJob }) => (cronJob?.timeZone === undefined ? [] : [cronJob.timeZone]));
    const zones = offeredZones([...new Set(used)].sort());
    if (!zones.includes(state.zone)) zones.push(state.zone);
    fillSelect(
      this.#zones,
      zones.map((zone): [string, string] => [zone, zone]),
      state.zone,
    );
    for (const [look, chip] of this.#chips) {
      chip.button.setAttribute("aria-pressed", String(state.looks.has(look)));
      chip.count.textContent = scene.counts[look].toLocaleString("en");
      chip.button.hidden = OPTIONAL_CHIPS.has(look) && scene.counts[look] === 0 && !state.looks.has(look);
    }
    this.#failedPods.button.setAttribute("aria-pressed", String(state.failedPods));
    this.#failedPods.count.textContent = scene.failedPods.toLocaleString("en");
    this.#failedPods.button.hidden = scene.failedPods === 0 && !state.failedPods;
    for (const view of this.#views) view.setAttribute("aria-pressed", String(view.dataset["view"] === state.view));
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  showHelp(): void {
    this.#help.showModal();
  }

  toggleTheme(): void {
    const { theme } = this.#context.state;
    const isDark = theme === "auto" ? window.matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
    this.#context.update({ theme: isDark ? "light" : "dark" });
  }

  #chip(look: Look): HTMLElement {
    const count = h("span", { class: "count" });
    const chip = addListener(
      h(
        "button",
        {
          type: "button",
          class: `chip look ${look}`,
          title: look === "stopped" ? "Show only: suspended, replaced or deleted" : `Show only: ${LOOK_NAMES[look]}`,
        },
        LOOK_NAMES[look],
        " ",
        count,
      ),
      {
        onclick: () => {
          const looks = new Set(this.#context.state.looks);
          if (!looks.delete(look)) looks.add(look);
          this.#context.update({ looks });
        },
      },
    );
    this.#chips.set(look, { button: chip, count });
    return chip;
  }

  async #copyLink(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.#context.environment.address.link ?? "");
      this.#context.announce("Link copied");
    } catch {
      this.#context.announce("The address of this page is the link");
    }
  }
}

function fillSelect(select: HTMLSelectElement, options: readonly (readonly [string, string])[], value: string): void {
  const key = JSON.stringify(options);
  if (select.dataset["options"] !== key) {
    select.dataset["options"] = key;
    select.replaceChildren(...options.map(([id, label]) => h("option", { value: id }, label)));
  }
  select.value = value;
}

function helpDialog({ isEmbedded }: PageEnvironment): HTMLDialogElement {
  const keys: readonly (readonly [string, string])[] = [
    ["← →", "previous and next run of a row"],
    ["↑ ↓", "other rows"],
    ["Enter", "details of the run; Escape leads back"],
    ["+ −", "zoom; also scroll on the axis, or hold Ctrl and scroll"],
    ["0", "show everything"],
    ["Shift ← →", "move the window; also drag"],
    ["[ ]", "time cursor to the event before and after"],
    ["P", "play and pause"],
    ["/", "filter"],
    ["T", "timeline or table"],
    ...(isEmbedded ? [] : [["D", "dark or light"] as const]),
  ];
  const dialog = h("dialog", { "aria-label": "Keys" });
  dialog.append(
    h("h2", {}, "Keys"),
    h("dl", {}, ...keys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    button("Close", "Close", () => dialog.close()),
  );
  return dialog;
}
