import { h, addListener } from "@kubewright/timeline/page";
import type { SimulationRequest, SimulationResult, Problem } from "@kubewright/analysis/browser";

import { download } from "./download.ts";
import { Downloads } from "./downloads.ts";
import { Editor } from "./editor/editor.ts";
import { type Engine, SimulationError } from "./engine/engine.ts";
import { EXAMPLES, type Example } from "./examples/examples.ts";
import { Header } from "./header.ts";
import { ProblemsView } from "./problems-view.ts";
import { FuturesPanel } from "./results/futures-panel.ts";
import { Progress } from "./results/progress.ts";
import { RunPanel } from "./results/run-panel.ts";
import type { EditScenario } from "./scenario/form-parts.ts";
import { ScenarioEventsForm } from "./scenario/scenario-events-form.ts";
import { ScenarioText, type Subject } from "./scenario/scenario-text.ts";
import { subjectsIn } from "./scenario/subjects.ts";
import { WindowForm } from "./scenario/window-form.ts";
import { WorkloadsForm } from "./scenario/workloads-form.ts";
import { Split } from "./split.ts";
import { LinkError, linkTo, stateOf } from "./state/link.ts";
import { NOTHING, type PlaygroundState } from "./state/playground-state.ts";
import { Tabs } from "./tabs.ts";
import { type Theme, applyTheme, storeTheme, storedTheme } from "./theme.ts";

/** Delay between the last keystroke and the simulation. */
const RUN_DELAY_MS = 250;

/** The playground: editors, forms and results. Each change starts a simulation. */
export class Playground {
  readonly #root: HTMLElement;
  readonly #defaultStart: string;
  readonly #engine: Engine;
  /** A second engine, because futures take long and the timeline must keep following the edits. */
  readonly #futuresEngine: Engine;
  readonly #manifests: Editor;
  readonly #scenario: Editor;
  readonly #files: Tabs;
  readonly #results: Tabs;
  readonly #header: Header;
  readonly #downloads: Downloads;
  readonly #problems: ProblemsView;
  readonly #window: WindowForm;
  readonly #workloads: WorkloadsForm;
  readonly #scenarioEvents: ScenarioEventsForm;
  readonly #forms: HTMLElement;
  readonly #unreadable = h(
    "p",
    { class: "hint", hidden: true },
    "scenario.yaml cannot be parsed. Correct it to use the forms.",
  );
  readonly #run = new RunPanel();
  readonly #futures: FuturesPanel;
  readonly #progress = new Progress("Simulated");
  readonly #status = h("p", { class: "status", role: "status" });
  readonly #cancel: HTMLButtonElement;
  readonly #alert = h("p", { class: "alert", role: "alert", hidden: true });
  #state = NOTHING;
  #subjects: readonly Subject[] = [];
  #simulated: SimulationResult | undefined;
  #theme: Theme = storedTheme();
  #timer = 0;
  #isRunning: Promise<void> = Promise.resolve();
  #stop = new AbortController();

  /** @param defaultStart - Start of a simulation without one, in RFC 3339: the same until the page is loaded again. */
  constructor(root: HTMLElement, engine: Engine, futuresEngine: Engine, defaultStart: string) {
    this.#root = root;
    this.#defaultStart = defaultStart;
    this.#engine = engine;
    this.#futuresEngine = futuresEngine;
    this.#manifests = new Editor({
      label: "manifests.yaml",
      onWrite: (manifests) => this.#change({ manifests }),
    });
    this.#scenario = new Editor({
      label: "scenario.yaml",
      onWrite: (scenario) => this.#change({ scenario }),
    });
    const edit: EditScenario = (change) => {
      const scenario = change(new ScenarioText(this.#state.scenario));
      this.#scenario.replace(scenario);
      this.#change({ scenario });
    };
    this.#window = new WindowForm(edit, defaultStart, (kubernetes) => this.#change({ kubernetes }));
    this.#workloads = new WorkloadsForm(edit);
    this.#scenarioEvents = new ScenarioEventsForm(edit);
    // On a phone the forms are above the timeline, so they are collapsed.
    const open = !matchMedia("(max-width: 860px)").matches;
    this.#forms = h(
      "div",
      { class: "forms" },
      this.#window.element,
      h("details", { open }, h("summary", {}, "How long runs take"), this.#workloads.element),
      h("details", { open }, h("summary", {}, "What goes wrong"), this.#scenarioEvents.element),
    );
    this.#problems = new ProblemsView((problem) => this.#goTo(problem));
    this.#futures = new FuturesPanel({
      simulate: (count, onProgress, signal) =>
        this.#futuresEngine.run("futures", { ...this.#request(), seeds: `1-${count}` }, { onProgress, signal }),
      onCount: (futures) => {
        this.#state = { ...this.#state, futures };
        void this.#writeLink();
      },
    });
    this.#downloads = new Downloads({
      onReport: () => void this.#download("report.html", "text/html"),
      onTrace: () => void this.#download("trace.jsonl", "application/jsonl"),
      onManifests: () => download("manifests.yaml", "application/yaml", this.#state.manifests),
      onScenario: () => download("scenario.yaml", "application/yaml", this.#state.scenario),
      onCopyCommand: () => void this.#copy(commandOf(this.#simulated), "The command is copied"),
    });
    this.#header = new Header({
      onExample: (name) => this.#openExample(EXAMPLES.find((example) => example.name === name)!),
      onShare: () => void this.#share(),
      onTheme: () => this.#toggleTheme(),
      downloads: this.#downloads.menu.element,
    });
    this.#cancel = addListener(h("button", { type: "button", class: "button", hidden: true }, "Cancel"), {
      onclick: () => {
        this.#stop.abort();
        this.#showStatus("Cancelled. The simulation restarts after the next change.");
      },
    });
    const manifestsPanel = h("div", { class: "editor-panel" }, this.#manifests.element);
    const scenarioPanel = h("div", { class: "editor-panel" }, this.#scenario.element);
    this.#files = new Tabs("Files", [
      { id: "manifests", label: "manifests.yaml", panel: manifestsPanel },
      { id: "scenario", label: "scenario.yaml", panel: scenarioPanel },
    ]);
    this.#results = new Tabs("Results", [
      { id: "timeline", label: "Timeline", panel: this.#run.timelinePanel },
      { id: "summary", label: "Summary", panel: this.#run.summaryPanel },
      { id: "futures", label: "Futures", panel: this.#futures.element },
    ]);
    this.#layOut([manifestsPanel, scenarioPanel]);
    this.#applyTheme(this.#theme);
  }

  /** Shows the content of the address, or an example. Resolves after the first simulation. */
  async start(): Promise<void> {
    window.addEventListener("hashchange", () => void this.#openAddress());
    await this.#openAddress();
    await this.#isRunning;
  }

  /** Loads completion and other editor features. */
  async addHelp(): Promise<void> {
    const { help, manifestSchema, scenarioSchema } = await import("./editor/help.ts");
    this.#manifests.addHelp(help(once(manifestSchema)));
    this.#scenario.addHelp(help(once(scenarioSchema)));
  }

  #layOut(editors: readonly HTMLElement[]): void {
    const columns = h("main", {});
    columns.append(
      h(
        "section",
        { class: "writing", "aria-label": "What is simulated" },
        h("div", { class: "bar" }, this.#files.element),
        ...editors,
        this.#problems.element,
        this.#unreadable,
        this.#forms,
      ),
      new Split(columns).element,
      h(
        "section",
        { class: "results", "aria-label": "What becomes of it" },
        h("div", { class: "bar" }, this.#results.element, this.#status, this.#cancel),
        this.#progress.element,
        this.#run.timelinePanel,
        this.#run.summaryPanel,
        this.#futures.element,
      ),
    );
    this.#root.replaceChildren(this.#header.element, this.#alert, columns);
  }

  async #openAddress(): Promise<void> {
    const { hash } = window.location;
    const named = EXAMPLES.find(({ name }) => hash === `#example=${name}`);
    if (named !== undefined) return this.#openExample(named);
    try {
      const state = await stateOf(hash);
      if (state === undefined) this.#openExample(EXAMPLES[0]!);
      else this.#open(state);
      this.#showAlert("");
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      this.#openExample(EXAMPLES[0]!);
      this.#showAlert(`${error.message} Meanwhile, here is an example.`);
    }
    return undefined;
  }

  #openExample({ name, manifests, scenario }: Example): void {
    this.#open({ ...this.#state, manifests, scenario });
    this.#header.example = name;
    this.#showAlert("");
  }

  #open(state: PlaygroundState): void {
    this.#manifests.open(state.manifests);
    this.#scenario.open(state.scenario);
    this.#futures.count = state.futures;
    this.#change(state, 0);
  }

  #change(change: Partial<PlaygroundState>, afterMs = RUN_DELAY_MS): void {
    this.#state = { ...this.#state, ...change };
    const { manifests, scenario } = this.#state;
    const isExample = EXAMPLES.find((each) => each.manifests === manifests && each.scenario === scenario);
    this.#header.example = isExample?.name ?? "";
    this.#renderForms();
    this.#futures.outdate();
    this.#stop.abort();
    clearTimeout(this.#timer);
    if (afterMs === 0) this.#isRunning = this.#simulate();
    else this.#timer = window.setTimeout(() => void this.#simulate(), afterMs);
    void this.#writeLink();
  }

  #renderForms(): void {
    const { manifests, scenario: text } = this.#state;
    const scenario = new ScenarioText(text);
    this.#forms.hidden = !scenario.isParseable;
    this.#unreadable.hidden = scenario.isParseable;
    if (!scenario.isParseable) return;
    const subjects = [...subjectsIn(manifests), ...subjectsIn(text)];
    // While the user types, the manifests may be temporarily unparseable.
    if (subjects.length > 0 || manifests.trim() === "") this.#subjects = subjects;
    this.#window.render(scenario, this.#state.kubernetes);
    this.#workloads.render(scenario, this.#subjects);
    this.#scenarioEvents.render(scenario, this.#subjects);
  }

  /** Uses flags instead of a scenario where they are equivalent, so that the command is short. */
  #request(): SimulationRequest {
    const { manifests, scenario: text, kubernetes } = this.#state;
    const release = kubernetes === "" ? {} : { kubernetesVersion: kubernetes };
    const scenario = new ScenarioText(text);
    const start = scenario.field("start");
    const defaultStart = start === "" ? { start: this.#defaultStart } : {};
    if (!scenario.isPlain) return { manifests, scenario: text, ...defaultStart, ...release };
    const [length, seed, timeZone] = (["for", "seed", "timeZone"] as const).map((name) => scenario.field(name));
    return {
      manifests,
      ...(start === "" ? defaultStart : { start }),
      ...(length === "" ? {} : { for: length! }),
      ...(seed === "" ? {} : { seed: Number(seed) }),
      ...(timeZone === "" ? {} : { timeZone: timeZone! }),
      ...release,
    };
  }

  async #simulate(): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    const started = performance.now();
    this.#progress.begin();
    this.#cancel.hidden = true;
    const showCancel = window.setTimeout(() => {
      this.#cancel.hidden = false;
    }, 1_000);
    try {
      const result = await this.#engine.run("simulate", this.#request(), {
        signal: stop.signal,
        onProgress: (done) => this.#progress.set(done),
        onProblems: (problems) => this.#showProblems(problems),
      });
      this.#show(result, performance.now() - started);
    } catch (error) {
      if (!stop.signal.aborted) this.#showStatus(`The simulation failed: ${(error as Error).message}`);
    } finally {
      clearTimeout(showCancel);
      if (this.#stop === stop) {
        this.#progress.end();
        this.#cancel.hidden = true;
      }
    }
  }

  #show(result: SimulationResult, tookMs: number): void {
    this.#simulated = result;
    this.#showProblems(result.problems);
    this.#run.show(result);
    this.#downloads.render(commandOf(result), this.#state.scenario !== "");
    this.#showStatus(
      result.report === undefined ? "Not simulated: see the problems" : `Simulated in ${(tookMs / 1000).toFixed(2)} s`,
    );
    performance.mark("played");
  }

  #showProblems(problems: readonly Problem[]): void {
    for (const [name, editor] of [
      ["manifests", this.#manifests],
      ["scenario", this.#scenario],
    ] as const) {
      const own = problems.filter(({ document }) => document === name);
      editor.showProblems(own);
      this.#files.mark(name, own.length === 0 ? "" : String(own.length), `${own.length} problems`);
    }
    this.#problems.render(problems);
  }

  #goTo({ document, line, column }: Problem): void {
    if (document !== "manifests" && document !== "scenario") return;
    this.#files.select(document);
    (document === "manifests" ? this.#manifests : this.#scenario).goTo(line ?? 1, column);
  }

  async #download(name: "report.html" | "trace.jsonl", type: string): Promise<void> {
    this.#showStatus(`Making ${name}…`);
    try {
      const text =
        name === "trace.jsonl"
          ? await this.#engine.run("trace", this.#request())
          : await this.#engine.run("report", { ...this.#request(), page: await pageFiles() });
      download(name, type, text);
      this.#showStatus(`${name} is in your downloads`);
    } catch (error) {
      this.#showStatus(
        error instanceof SimulationError ? error.message : `${name} could not be made: ${(error as Error).message}`,
      );
    }
  }

  async #share(): Promise<void> {
    try {
      const link = new URL(await linkTo(this.#state), window.location.href).href;
      history.replaceState(null, "", link);
      await this.#copy(link, "The link is copied");
    } catch (error) {
      this.#showAlert((error as Error).message);
    }
  }

  /** Keeps the address a link to the current state, as long as the state fits in a link. */
  async #writeLink(): Promise<void> {
    const state = this.#state;
    const fragment = await linkTo(state).catch(() => undefined);
    if (fragment !== undefined && state === this.#state) history.replaceState(null, "", fragment);
  }

  async #copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.#showStatus(done);
    } catch {
      // Where clipboard access is denied, the user copies the text manually.
      window.prompt("Copy this:", text);
    }
  }

  #toggleTheme(): void {
    this.#theme = this.#theme === "dark" ? "light" : "dark";
    storeTheme(this.#theme);
    this.#applyTheme(this.#theme);
  }

  #applyTheme(theme: Theme): void {
    applyTheme(theme);
    this.#run.timeline.theme = theme;
    this.#futures.timeline.theme = theme;
  }

  #showStatus(text: string): void {
    this.#status.textContent = text;
  }

  #showAlert(text: string): void {
    this.#alert.textContent = text;
    this.#alert.hidden = text === "";
  }
}

/** Bundled, so that reports can be created offline. */
async function pageFiles(): Promise<{ readonly script: string; readonly style: string }> {
  const { script, style } = await import("playground:page-files");
  return { script, style };
}

/** Returns the command with `npx`, which works with and without an installation. */
function commandOf(result: SimulationResult | undefined): string {
  return result === undefined ? "" : `npx ${result.command}`;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
