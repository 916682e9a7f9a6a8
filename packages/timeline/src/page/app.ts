import type { ReportData } from "../data/report-data.js";
import { DetailsView } from "./details-view.js";
import { h } from "./dom.js";
import { durationText } from "./duration-text.js";
import { EventsView } from "./events-view.js";
import type { Item } from "./item.js";
import { type LiveRun, isLive } from "./live-run.js";
import { NoteIndex } from "./note-index.js";
import type { PageContext } from "./page-context.js";
import { type Palette, readPalette } from "./palette.js";
import { Playback } from "./playback.js";
import { type Scene, buildScene, fitScene, initiallyCollapsed } from "./scene.js";
import { TableView } from "./table-view.js";
import { type Band, timeBands } from "./time-bands.js";
import { TimelineView } from "./timeline-view.js";
import { Toolbar } from "./toolbar.js";
import { type ViewState, fromHash, toHash } from "./view-state.js";
import { ZonedTime, isZone } from "./zoned-time.js";
import { type Selection, type PageEnvironment, partTag } from "./page-environment.js";
import { itemOutcome } from "./item-text.js";

const MIN_WHOLE_MS = 60_000;
const MIN_LIVE_MS = 600_000;
const MIN_WINDOW_MS = 2_000;
const HASH_DELAY_MS = 300;

/** Initial settings from the embedding page. */
export interface AppOptions {
  readonly theme?: ViewState["theme"] | undefined;
  readonly zone?: string | undefined;
}

/** The page of one run. Stores the view state, and redraws its parts when the state changes. */
export class App implements PageContext {
  data: ReportData;
  scene: Scene;
  state: ViewState;
  notes: NoteIndex;
  bands: readonly Band[];
  zone: ZonedTime;
  palette: Palette;
  whole: { readonly fromMs: number; readonly toMs: number };
  readonly environment: PageEnvironment;
  readonly fetchObject: PageContext["fetchObject"];
  readonly #live: LiveRun | undefined;
  readonly #timeline: TimelineView;
  readonly #table: TableView;
  readonly #details: DetailsView;
  readonly #events: EventsView;
  readonly #toolbar: Toolbar;
  readonly #playback: Playback;
  readonly #status = h("div", { class: "status", role: "status", "aria-live": "polite" });
  readonly #side: HTMLElement;
  #initial: ViewState;
  /** The scene with lanes of usual height. */
  #unfitted: Scene;
  #isScheduled = false;
  #isHashDue = false;
  #statusTimer: ReturnType<typeof setTimeout> | undefined;
  #sceneVersion = 0;
  readonly #closed = new AbortController();
  readonly #place: Readonly<Record<string, string>>;

  /**
   * @param source - The data of a file, or a live cluster.
   * @param place - Additional link parameters that identify this page within a larger one.
   * @param options - Initial settings for parameters that the address does not contain.
   */
  constructor(
    environment: PageEnvironment,
    source: ReportData | LiveRun,
    place: Readonly<Record<string, string>> = {},
    options: AppOptions = {},
  ) {
    const { root, keys, address } = environment;
    this.environment = environment;
    this.#place = place;
    this.#live = isLive(source) ? source : undefined;
    this.fetchObject = this.#live?.object.bind(this.#live);
    this.data = isLive(source) ? source.data : source;
    this.whole = wholeOf(this.data, this.#live !== undefined);
    this.#initial = {
      ...this.whole,
      cursorMs: undefined,
      selected: undefined,
      text: "",
      namespace: "",
      looks: new Set(),
      failedPods: false,
      collapsed: initiallyCollapsed(this.data.groups),
      zone: options.zone !== undefined && isZone(options.zone) ? options.zone : usualZone(this.data),
      view: "timeline",
      theme: options.theme ?? "auto",
    };
    this.state = fromHash(address.hash, this.#initial, isZone);
    environment.themed.dataset["theme"] = this.state.theme;
    this.zone = new ZonedTime(this.state.zone);
    this.notes = new NoteIndex(this.data);
    this.bands = timeBands(this.data);
    this.#unfitted = buildScene(this.data, this.state, this.state.collapsed);
    this.scene = this.#unfitted;
    const openDetails = (): void => {
      this.render();
      this.#details.focus();
    };
    const back = (): void => {
      this.update({ selected: undefined });
      this.render();
      if (this.state.view === "timeline") this.#timeline.focus();
    };
    const schedule = (): void => this.#schedule();
    this.#timeline = new TimelineView(this, openDetails, schedule);
    this.#table = new TableView(this, openDetails);
    this.#details = new DetailsView(this, openDetails, back);
    this.#events = new EventsView(this);
    this.#playback = new Playback(this, this.#live);
    this.#toolbar = new Toolbar(this, this.#playback.element);
    this.#side = h(partTag(environment, "aside"), { class: "side" }, this.#details.element, this.#events.element);
    root.replaceChildren(
      this.#toolbar.header,
      this.#toolbar.element,
      h(partTag(environment, "main"), { class: "main" }, this.#timeline.element, this.#table.element, this.#side),
      this.#status,
    );
    this.palette = readPalette(root);
    const { signal } = this.#closed;
    window
      .matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => this.#themeChanged(), { signal });
    // The theme of an embedded element follows the host page, which dispatches no event for that; a CSS transition
    // does.
    environment.themed.addEventListener(
      "transitionrun",
      ({ target }) => {
        if (target === environment.themed) this.#themeChanged();
      },
      { signal },
    );
    // Print output is light, as wide as the paper, and as high as needed.
    window.matchMedia("print").addEventListener("change", () => this.#mediumChanged(), { signal });
    window.addEventListener("beforeprint", () => this.#mediumChanged(), { signal });
    window.addEventListener("afterprint", () => this.#mediumChanged(), { signal });
    address.listen("hashchange", () => this.#follow(address.hash), signal);
    keys.addEventListener("keydown", (event) => this.#pressed(event as KeyboardEvent), { signal });
  }

  /** Removes all listeners on the window, before another page replaces this one. */
  close(): void {
    this.#closed.abort();
  }

  /** Draws the page for the first time. */
  show(): void {
    this.render();
    const selected = this.state.selected === undefined ? undefined : this.scene.items.get(this.state.selected);
    if (selected !== undefined) this.#timeline.reveal(selected);
  }

  update(change: Partial<ViewState>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    if (change.fromMs !== undefined || change.toMs !== undefined)
      this.state = { ...this.state, ...this.#inside(this.state) };
    const { text, namespace, looks, failedPods, collapsed, zone, theme } = this.state;
    const isFilterChanged =
      text !== before.text ||
      namespace !== before.namespace ||
      looks !== before.looks ||
      failedPods !== before.failedPods;
    if (isFilterChanged || collapsed !== before.collapsed) this.#rebuild();
    if (isFilterChanged)
      this.announce(`${this.scene.runs.length.toLocaleString("en")} runs match`, { isVisible: false });
    if (zone !== before.zone) this.zone = new ZonedTime(zone);
    if (theme !== before.theme) this.#themeChanged();
    if (this.state.selected !== before.selected) this.#reportSelection();
    // Delays updates of the address, also during playback: browsers limit their rate.
    if (!this.#isHashDue) setTimeout(() => this.writeLink(), HASH_DELAY_MS);
    this.#isHashDue = true;
    this.#schedule();
  }

  select(item: Item | undefined): void {
    if (item === undefined) return this.update({ selected: undefined });
    const { fromMs, toMs } = this.state;
    const cursorMs = item.startMs;
    const span = toMs - fromMs;
    const isInView = cursorMs >= fromMs && cursorMs <= toMs;
    this.update({
      selected: item.id,
      cursorMs,
      ...(isInView ? {} : { fromMs: cursorMs - span / 2, toMs: cursorMs + span / 2 }),
    });
    this.#timeline.reveal(item);
  }

  zoomBy(factor: number, aroundMs?: number): void {
    const { fromMs, toMs, selected, cursorMs } = this.state;
    const item = selected === undefined ? undefined : this.scene.items.get(selected);
    const wanted = aroundMs ?? item?.startMs ?? cursorMs ?? Number.NaN;
    const centre = wanted >= fromMs && wanted <= toMs ? wanted : (fromMs + toMs) / 2;
    this.update({ fromMs: centre - (centre - fromMs) / factor, toMs: centre + (toMs - centre) / factor });
  }

  panBy(share: number): void {
    const { fromMs, toMs } = this.state;
    const by = (toMs - fromMs) * share;
    const { fromMs: first, toMs: last } = this.whole;
    const bounded = Math.min(last - toMs, Math.max(first - fromMs, by));
    this.update({ fromMs: fromMs + bounded, toMs: toMs + bounded });
  }

  announce(text: string, { isVisible = true } = {}): void {
    this.#status.textContent = text;
    this.#status.classList.toggle("shown", isVisible);
    clearTimeout(this.#statusTimer);
    this.#statusTimer = setTimeout(() => this.#status.classList.remove("shown"), STATUS_MS);
  }

  /** Applies new data of a live cluster. */
  refresh(): void {
    const live = this.#live;
    if (live === undefined) return;
    const before = this.whole;
    const beforeMs = this.data.endMs;
    this.data = live.data;
    this.whole = wholeOf(this.data, true);
    const { fromMs, toMs } = this.state;
    const wasWhole = fromMs === before.fromMs && toMs === before.toMs;
    const movedMs = this.data.endMs - beforeMs;
    if (wasWhole) this.state = { ...this.state, ...this.whole };
    // A window that includes the present moves with it.
    else if (toMs >= beforeMs && fromMs <= beforeMs)
      this.state = { ...this.state, fromMs: fromMs + movedMs, toMs: toMs + movedMs };
    const zone = usualZone(this.data);
    if (this.state.zone === this.#initial.zone && zone !== this.state.zone) {
      this.state = { ...this.state, zone };
      this.zone = new ZonedTime(zone);
    }
    this.#initial = { ...this.#initial, ...this.whole, zone };
    this.notes = new NoteIndex(this.data);
    this.bands = timeBands(this.data);
    this.#rebuild();
    this.#schedule();
  }

  render(): void {
    const { view } = this.state;
    this.#timeline.element.hidden = view !== "timeline";
    this.#table.element.hidden = view !== "table";
    this.#toolbar.render(this.#facts(), this.#sceneVersion);
    this.#playback.render();
    this.scene = fitScene(this.#unfitted, this.#timeline.rowsHeight);
    if (view === "timeline") this.#timeline.render();
    else this.#table.render(this.#sceneVersion);
    this.#details.render(this.#sceneVersion);
    this.#events.render();
  }

  #reportSelection(): void {
    const { selected } = this.state;
    const item = selected === undefined ? undefined : this.scene.items.get(selected);
    this.environment.onSelect?.(item === undefined ? undefined : selectionOf(item));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.render();
    });
  }

  #rebuild(): void {
    this.#unfitted = buildScene(this.data, this.state, this.state.collapsed);
    this.scene = fitScene(this.#unfitted, this.#timeline.rowsHeight);
    this.#sceneVersion++;
  }

  #inside({ fromMs, toMs }: ViewState): { fromMs: number; toMs: number } {
    const { whole } = this;
    const span = Math.min(whole.toMs - whole.fromMs, Math.max(MIN_WINDOW_MS, toMs - fromMs));
    const from = Math.min(whole.toMs - span, Math.max(whole.fromMs, fromMs));
    return { fromMs: from, toMs: from + span };
  }

  #themeChanged(): void {
    this.environment.themed.dataset["theme"] = this.state.theme;
    this.palette = readPalette(this.environment.root);
    this.#timeline.refreshColours();
    this.#schedule();
  }

  /** Renders immediately: printing does not wait for the next frame. */
  #mediumChanged(): void {
    this.#themeChanged();
    this.#timeline.measure();
    this.render();
  }

  /** Writes the view state to the address. */
  writeLink(): void {
    this.#isHashDue = false;
    if (this.#closed.signal.aborted) return;
    const hash = [new URLSearchParams(this.#place).toString(), toHash(this.state, this.#initial)]
      .filter((part) => part !== "")
      .join("&");
    const { address } = this.environment;
    if (`#${hash}` !== address.hash && !(hash === "" && address.hash === "")) address.replace(hash);
  }

  #follow(hash: string): void {
    this.state = fromHash(hash, this.#initial, isZone);
    this.state = { ...this.state, ...this.#inside(this.state) };
    this.zone = new ZonedTime(this.state.zone);
    this.#rebuild();
    this.#themeChanged();
  }

  #facts(): string[] {
    const { data, zone } = this;
    const live = this.#live;
    const window = `${zone.minute(data.startMs)} to ${zone.minute(data.endMs)}`;
    if (live === undefined)
      return [window, durationText(data.endMs - data.startMs), `seed ${data.seed}`, `Kubernetes ${data.kubernetes}`];
    const now = `Live, ${zone.second(live.nowMs)}`;
    const { speed } = live.status ?? {};
    const pace = speed === undefined ? "" : speed === "manual" ? "clock moved by hand" : `speed ${speed}`;
    const missed = live.missed > 0 ? `${live.missed.toLocaleString("en")} older records gone` : "";
    const connection =
      live.connection === "connected"
        ? ""
        : live.connection === "lost"
          ? "connection lost, trying again"
          : "connecting";
    return [now, pace, missed, connection].filter(Boolean);
  }

  #pressed(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || this.#isDialogOpen()) return;
    if (target.matches("input, select, textarea")) {
      if (event.key === "Escape" && this.state.text !== "") this.update({ text: "" });
      return;
    }
    const action = this.#shortcut(event.key);
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #isDialogOpen(): boolean {
    return this.environment.root.parentElement!.querySelector("dialog[open]") !== null;
  }

  #shortcut(key: string): (() => void) | undefined {
    switch (key) {
      case "+":
      case "=":
        return () => this.zoomBy(2);
      case "-":
        return () => this.zoomBy(1 / 2);
      case "0":
        return () => this.update(this.whole);
      case "/":
        return () => this.#toolbar.focusSearch();
      case "[":
        return () => this.#playback.step(-1);
      case "]":
        return () => this.#playback.step(1);
      case "p":
        return () => this.#playback.toggle();
      case "t":
        return () => this.update({ view: this.state.view === "table" ? "timeline" : "table" });
      case "d":
        return this.environment.isEmbedded ? undefined : () => this.#toolbar.toggleTheme();
      case "?":
        return () => this.#toolbar.showHelp();
      default:
        return undefined;
    }
  }
}

const STATUS_MS = 4_000;

/** Returns a window slightly larger than the data, so that nothing touches the edges. */
function wholeOf({ startMs, endMs }: ReportData, isLive: boolean): { fromMs: number; toMs: number } {
  const span = Math.max(isLive ? MIN_LIVE_MS : MIN_WHOLE_MS, endMs - startMs);
  return { fromMs: startMs - span * 0.012, toMs: startMs + span * (isLive ? 1.05 : 1.012) };
}

/** Returns the time zone that most CronJobs have. */
function usualZone({ groups }: ReportData): string {
  const counts = new Map<string, number>();
  for (const { cronJob } of groups) {
    const zone = cronJob?.timeZone;
    if (zone !== undefined && zone !== "Etc/UTC" && isZone(zone)) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  }
  const others =
    groups.filter(({ kind }) => kind === "CronJob").length - [...counts.values()].reduce((a, b) => a + b, 0);
  const [zone, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), ["UTC", others] as [string, number]);
  return count > 0 ? zone : "UTC";
}

function selectionOf(item: Item): Selection {
  const { namespace, kind, name } = item.group;
  const outcome = itemOutcome(item);
  switch (item.type) {
    case "ghost":
      return { kind, namespace, name, slotMs: item.row.slotMs, outcome };
    case "run": {
      const { slotMs } = item.row;
      return { kind: "Job", namespace, name: item.row.name, ...(slotMs === undefined ? {} : { slotMs }), outcome };
    }
    case "pod":
      return { kind: "Pod", namespace, name: item.pod.name, outcome };
    default:
      return item satisfies never;
  }
}
