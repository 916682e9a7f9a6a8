import type { PageData } from "../data/page-data.js";
import { h } from "../page/dom.js";
import { type ShownPage, showPage } from "../page/show-page.js";
import { type Address, type Selection, ownAddress } from "../page/page-environment.js";
import { unpackData } from "../page/unpack-data.js";
import type { Theme } from "./theme.js";
import { isTheme } from "./theme.js";
import { styleText } from "./style-text.js";

/** Shows the timeline of Jobs and CronJobs, like the page of `kubewright run --html`. */
export interface KubewrightTimelineElement extends HTMLElement {
  /** The displayed data. New data replaces the old; the view is retained as far as possible. */
  data: PageData | undefined;
  /** URL of the data: JSON, or the output of `packData`. Reflects the attribute `src`. */
  src: string;
  /** The attribute `theme`. Default `auto`: follows the `color-scheme` inherited from the host page. */
  theme: Theme;
  /** Initial time zone, the attribute `zone`. Default: the zone that most CronJobs have. */
  zone: string;
}

/** The `detail` of the event `kubewright-select`: the selection, or `null` for none. */
export type SelectDetail = Selection | null;

const NAME = "kubewright-timeline";
const ATTRIBUTES = ["src", "theme", "zone"] as const;

/**
 * Registers the element `<kubewright-timeline>`. Further calls have no effect.
 *
 * @param registry - Default: the document's registry.
 */
export function defineKubewrightTimeline(registry: CustomElementRegistry = customElements): void {
  if (registry.get(NAME) === undefined) registry.define(NAME, elementClass());
}

/** Creates the class on demand, because `HTMLElement` exists only in browsers. */
function elementClass(): CustomElementConstructor {
  return class extends HTMLElement implements KubewrightTimelineElement {
    static readonly observedAttributes = ATTRIBUTES;
    readonly #shadow = this.attachShadow({ mode: "open" });
    #address: Address = ownAddress();
    #data: PageData | undefined;
    #page: ShownPage | undefined;
    #reading = new AbortController();
    /** Identifies the latest request to show data. Results of earlier requests are discarded. */
    #readId = 0;

    constructor() {
      super();
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styleText);
      this.#shadow.adoptedStyleSheets = [sheet];
    }

    get data(): PageData | undefined {
      return this.#data;
    }

    set data(data: PageData | undefined) {
      this.#reading.abort();
      const keepsPosition = isSameWindow(this.#data, data);
      this.#data = data;
      this.#show(keepsPosition ? ALL_SETTINGS : LASTING_SETTINGS);
    }

    get src(): string {
      return this.getAttribute("src") ?? "";
    }

    set src(src: string) {
      this.setAttribute("src", src);
    }

    get theme(): Theme {
      const theme = this.getAttribute("theme");
      return isTheme(theme) ? theme : "auto";
    }

    set theme(theme: Theme) {
      this.setAttribute("theme", theme);
    }

    get zone(): string {
      return this.getAttribute("zone") ?? "";
    }

    set zone(zone: string) {
      this.setAttribute("zone", zone);
    }

    connectedCallback(): void {
      // Properties set before the element was defined are own properties and shadow the accessors.
      for (const name of ["data", ...ATTRIBUTES] as const)
        if (Object.hasOwn(this, name)) {
          const value = this[name];
          Reflect.deleteProperty(this, name);
          Object.assign(this, { [name]: value });
        }
      if (this.#data !== undefined) this.#show(ALL_SETTINGS);
      else void this.#read();
    }

    disconnectedCallback(): void {
      this.#reading.abort();
      this.#close();
    }

    attributeChangedCallback(name: (typeof ATTRIBUTES)[number], before: string | null, after: string | null): void {
      if (before === after || !this.isConnected) return;
      if (name === "src") void this.#read();
      else this.#show(ALL_SETTINGS.filter((each) => each !== name));
    }

    /** Reads the data from the URL in `src`, or from the child script element. */
    async #read(): Promise<void> {
      this.#reading.abort();
      this.#reading = new AbortController();
      const { signal } = this.#reading;
      try {
        const text = this.src === "" ? this.querySelector("script")?.textContent : await fetched(this.src, signal);
        if (text === undefined || text.trim() === "") return;
        const data = text.trimStart().startsWith("{") ? (JSON.parse(text) as PageData) : await unpackData(text.trim());
        if (!signal.aborted) this.data = data;
      } catch (error) {
        if (!signal.aborted) this.#showError(error);
      }
    }

    /** Shows the current data. @param kept - Parameters of the current view state that remain valid. */
    #show(kept: readonly string[]): void {
      if (!this.isConnected) return;
      this.#close();
      const link = [...new URLSearchParams(this.#address.hash.slice(1))].filter(([name]) => kept.includes(name));
      this.#address.replace(new URLSearchParams(link).toString());
      const data = this.#data;
      if (data === undefined) return this.#shadow.replaceChildren();
      const root = h("div", { id: "app" });
      const frame = h("div", { class: "frame", "data-theme": this.theme }, root);
      this.#shadow.replaceChildren(frame);
      const turn = ++this.#readId;
      const environment = {
        root,
        themed: frame,
        keys: frame,
        address: this.#address,
        isEmbedded: true,
        part: () => undefined,
        onSelect: (selection: Selection | undefined): void => {
          const detail: SelectDetail = selection ?? null;
          this.dispatchEvent(new CustomEvent("kubewright-select", { bubbles: true, composed: true, detail }));
        },
      };
      showPage(environment, data, { theme: this.theme, zone: this.zone }).then(
        (page) => {
          if (turn === this.#readId) this.#page = page;
          else page.close();
        },
        (error: unknown) => {
          if (turn === this.#readId) this.#showError(error);
        },
      );
    }

    #close(): void {
      this.#readId++;
      this.#page?.close();
      this.#page = undefined;
    }

    #showError(error: unknown): void {
      this.#close();
      const message = `This timeline cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
      this.#shadow.replaceChildren(h("div", { class: "frame", role: "alert" }, message));
    }
  };
}

/** Parameters of a view state. `LASTING_SETTINGS` are those that do not depend on the data. */
const LASTING_SETTINGS = ["text", "namespace", "outcome", "zone", "view", "theme"];
const ALL_SETTINGS = [...LASTING_SETTINGS, "range", "cursor", "selected", "toggled", "seed"];

function isSameWindow(a: PageData | undefined, b: PageData | undefined): boolean {
  return a !== undefined && b !== undefined && windowOf(a) === windowOf(b);
}

function windowOf(data: PageData): string {
  const { startMs, endMs } = "a" in data ? data.a : data;
  return `${startMs} ${endMs}`;
}

async function fetched(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return answer.text();
}
