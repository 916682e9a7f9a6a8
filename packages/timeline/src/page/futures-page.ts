import type { Moment } from "../data/figure-table.js";
import type { FuturesReport } from "../data/futures-report.js";
import type { ConcurrencySteps, Levels } from "../data/concurrency-steps.js";
import type { ReportData } from "../data/report-data.js";
import { rowTime } from "../data/rows.js";
import { App } from "./app.js";
import { BandsView } from "./bands-view.js";
import { button, h } from "./dom.js";
import { durationText } from "./duration-text.js";
import { figureTableView } from "./figure-table-view.js";
import { groupId } from "./item.js";
import { currentTheme, overview } from "./overview.js";
import { rowId } from "./row-link.js";
import { unpackData } from "./unpack-data.js";
import { ZonedTime } from "./zoned-time.js";
import { type PageEnvironment, focusedBeside } from "./page-environment.js";

/** The page of many futures: how often each incident occurs, and the worst futures, each with its own page. */
export class FuturesPage {
  readonly #environment: PageEnvironment;
  readonly #report: FuturesReport;
  readonly #overview: readonly HTMLElement[];
  readonly #nav: HTMLElement;
  readonly #seed = h("strong", {});
  readonly #dialog = h("dialog", { "aria-label": "A future that is not in this file" });
  readonly #closed = new AbortController();
  #app: App | undefined;
  /** The seed whose page is shown or being loaded. */
  #shown: number | undefined;
  /** The last unpacked timeline. */
  #latest: { readonly seed: number; readonly data: ReportData } | undefined;
  /** Scroll position and focus before a timeline was opened. */
  #left = { scroll: 0, focus: undefined as HTMLElement | undefined };

  constructor(environment: PageEnvironment, report: FuturesReport) {
    this.#environment = environment;
    this.#report = report;
    const open = (moment: Moment): void => this.#open(moment);
    const { tables, load, remarks, description } = report;
    const [first, ...others] = tables.map((table) => figureTableView(table, open));
    this.#overview = overview(
      environment,
      "Every future",
      factsOf(report),
      h("h1", {}, "Every future"),
      h("p", { class: "lead" }, leadOf(report)),
      description !== undefined && h("p", { class: "description" }, description),
      ...remarks.map((remark) => h("p", { class: "remark" }, remark)),
      first ?? false,
      load.groups.length > 0 && new BandsView(load, open).element,
      ...others,
    );
    this.#nav = h(
      "nav",
      { class: "sides", "aria-label": "Futures" },
      button("← Every future", "Back to every future", () => void this.#go("")),
      this.#seed,
    );
    const { root, address } = environment;
    root.before(this.#nav);
    root.after(this.#dialog);
    root.parentElement!.classList.add("has-nav");
    address.listen("popstate", () => void this.show(), this.#closed.signal);
  }

  /** Removes the elements added beside the root, before another page replaces this one. */
  close(): void {
    this.#closed.abort();
    this.#app?.close();
    this.#nav.remove();
    this.#dialog.remove();
  }

  /** Shows the page from the address: one future, or the overview. */
  async show(): Promise<void> {
    const address = new URLSearchParams(this.#environment.address.hash.slice(1));
    const seed = address.has("seed") ? Number(address.get("seed")) : undefined;
    const carried = seed !== undefined && this.#report.embedded.includes(seed) ? seed : undefined;
    if (carried !== undefined && carried === this.#shown) return;
    this.#app?.close();
    this.#app = undefined;
    this.#shown = carried;
    if (carried === undefined) {
      this.#showAll(address.get("theme"));
      if (seed !== undefined && Number.isSafeInteger(seed)) this.#reportSelection(seed);
      return;
    }
    const data = await this.#timeline(carried);
    // The user may have navigated to another page in the meantime.
    if (this.#shown === carried) this.#showOne(carried, data);
  }

  #showAll(theme: string | null): void {
    if (theme === "light" || theme === "dark") this.#environment.themed.dataset["theme"] = theme;
    this.#nav.hidden = true;
    this.#environment.root.classList.add("one-column");
    this.#environment.root.replaceChildren(...this.#overview);
    const main = this.#overview.at(-1)!;
    main.scrollTop = this.#left.scroll;
    this.#left.focus?.focus({ preventScroll: true });
  }

  #showOne(seed: number, data: ReportData): void {
    this.#nav.hidden = false;
    this.#seed.textContent = `Seed ${seed}`;
    this.#environment.root.classList.remove("one-column");
    this.#app = new App(this.#environment, data, { seed: String(seed) });
    this.#app.show();
  }

  #open(moment: Moment): void {
    const { seed } = moment;
    if (!this.#report.embedded.includes(seed)) this.#reportSelection(seed);
    else void this.#openEmbedded(moment);
  }

  async #openEmbedded({ seed, at, object }: Moment): Promise<void> {
    const data = await this.#timeline(seed);
    const link = new URLSearchParams({ seed: String(seed) });
    const atMs = at === "mostPods" || at === "mostCpu" ? timeOfMax(data.concurrency, at) : at;
    if (atMs !== undefined) link.set("cursor", String(atMs));
    const selected = object === undefined || atMs === undefined ? undefined : rowId(data, object, atMs);
    if (selected !== undefined) link.set("selected", selected);
    if (currentTheme(this.#environment) !== "auto") link.set("theme", currentTheme(this.#environment));
    const focus = focusedBeside(this.#environment.root);
    this.#left = {
      scroll: this.#overview.at(-1)!.scrollTop,
      focus: focus instanceof HTMLElement && focus !== document.body ? focus : undefined,
    };
    await this.#go(link.toString());
    if (object !== undefined && atMs !== undefined && isBeyond(data, object, atMs))
      this.#app?.announce(`This file keeps fewer runs of seed ${seed}: those until then`);
  }

  #go(hash: string): Promise<void> {
    const theme = currentTheme(this.#environment) === "auto" ? "" : `theme=${currentTheme(this.#environment)}`;
    this.#environment.address.push(hash === "" ? theme : hash);
    return this.show();
  }

  async #timeline(seed: number): Promise<ReportData> {
    if (this.#latest?.seed !== seed) {
      const data = (await unpackData(this.#environment.part(`seed-${seed}`) ?? "")) as ReportData;
      this.#latest = { seed, data };
    }
    return this.#latest.data;
  }

  /** Shows the command that simulates a future that is not in the file. */
  #reportSelection(seed: number): void {
    const command = `${this.#report.command} --seed ${seed} --html seed-${seed}.html`;
    this.#dialog.replaceChildren(
      h("h2", {}, `Seed ${seed} is not in this file`),
      h("p", {}, `It holds the timelines of ${this.#report.embedded.length} other seeds. This command simulates it:`),
      h("pre", { tabindex: 0 }, command),
      h(
        "div",
        { class: "buttons" },
        button("Copy", "Copy the command", () => void navigator.clipboard.writeText(command)),
        button("Close", "Close", () => this.#dialog.close()),
      ),
    );
    this.#dialog.showModal();
  }
}

function factsOf({ startMs, endMs, kubernetes }: FuturesReport): string[] {
  const zone = new ZonedTime("UTC");
  return [
    `${zone.minute(startMs)} to ${zone.minute(endMs)}`,
    durationText(endMs - startMs),
    `Kubernetes ${kubernetes}`,
  ];
}

function leadOf({ simulated, seeds, embedded }: FuturesReport): string {
  const { first, last } = seeds;
  const all = last - first + 1;
  const which = first === last ? `seed ${first}` : `seeds ${first}-${last}`;
  const futures = `${simulated.toLocaleString("en")} ${simulated === 1 ? "future" : "futures"}`;
  const stopped = simulated < all ? ` of ${all.toLocaleString("en")}, as it was stopped` : "";
  const shown =
    embedded.length === 0 ? "" : " Wherever a seed is named, a click opens its timeline, at the run in question.";
  return `${futures}${stopped}, ${which}.${shown}`;
}

/** Returns whether the time is later than the last included run of an object that has more runs. */
function isBeyond({ groups }: ReportData, wanted: NonNullable<Moment["object"]>, atMs: number): boolean {
  const group = groups.find((each) => groupId(each) === groupId(wanted));
  const last = group?.rows.at(-1);
  return group !== undefined && group.hiddenRows > 0 && (last === undefined || rowTime(last) < atMs);
}

/** Returns the first time of the peak. */
function timeOfMax({ atMs, pods, cpuMillis }: ConcurrencySteps, at: "mostPods" | "mostCpu"): number | undefined {
  const { peak }: Levels = at === "mostPods" ? pods : cpuMillis;
  const max = peak.reduce((a, b) => Math.max(a, b), 0);
  return atMs[peak.indexOf(max)];
}
