import type { Look, RecordedRun, Sentence } from "../../data/recorded-run.js";
import { sinceText } from "../../data/since-text.js";
import { invariantViolationText } from "../../data/violation-text.js";
import { button, h, addListener } from "../dom.js";
import { figureTableView } from "../figure-table-view.js";
import { overview } from "../overview.js";
import { svg } from "../svg.js";
import { cachedViewTable } from "./cached-view.js";
import { CachedVersions } from "./cached-versions.js";
import { RunLanesView, mark } from "./run-lanes-view.js";
import { type RunLane, lanesOf } from "./run-lanes.js";
import type { PageEnvironment } from "../page-environment.js";

const LEGEND: readonly (readonly [Look, string])[] = [
  ["added", "created"],
  ["modified", "changed"],
  ["deleted", "gone"],
  ["acts", "a sync that does something"],
  ["rests", "a sync that does nothing"],
  ["done", "a request that is done"],
  ["refused", "refused"],
  ["false", "a fault answers; nothing is done"],
  ["lost", "done, and its answer lost"],
  ["wrong", "what should hold does not"],
];

const MAX_MEANWHILE = 5;

/** The page of one run with violations: a narrative, and every step of the run. */
export class RecordedRunPage {
  readonly #environment: PageEnvironment;
  readonly #run: RecordedRun;
  readonly #cachedVersions: CachedVersions;
  readonly #timeline = h("div", { class: "run-timeline" });
  readonly #now = h("p", { class: "step-now", role: "status" });
  readonly #cachedView = h("div", {});
  readonly #objects = h("select", { "aria-label": "Whose versions are shown" });
  #view: RunLanesView | undefined;
  #lanes: readonly RunLane[] = [];
  #steps: readonly number[] = [];
  /** The current step, as an index of all steps. */
  #step: number;
  #object: number | undefined;
  readonly #closed = new AbortController();
  #scope = { allObjects: false, allControllers: false };

  constructor(environment: PageEnvironment, run: RecordedRun) {
    this.#environment = environment;
    this.#run = run;
    this.#cachedVersions = new CachedVersions(run);
    this.#step = run.violations[0]?.step ?? 0;
    const concerned = run.objects.findIndex(({ isConcerned }) => isConcerned);
    this.#object = run.selected ?? (concerned === -1 ? undefined : concerned);
  }

  /** Removes the keyboard listener, before another page replaces this one. */
  close(): void {
    this.#closed.abort();
  }

  show(): void {
    const { name, violations, startMs, endMs, plan, command, omitted } = this.#run;
    const [first, ...others] = violations;
    const { root, keys } = this.#environment;
    root.classList.add("one-column");
    root.replaceChildren(
      ...overview(
        this.#environment,
        "A run, step by step",
        [name, `${sinceText(endMs, startMs).slice(1)} of virtual time`],
        h(
          "h1",
          {},
          first === undefined ? "Nothing went wrong" : `${first.invariant}: ${invariantViolationText(first)}`,
        ),
        this.#narrative(),
        ...others.map((other) =>
          h(
            "p",
            { class: "remark" },
            `Also: ${other.invariant}: ${invariantViolationText(other)} `,
            this.#link(other.step, "Show"),
          ),
        ),
        h(
          "section",
          { class: "figures steps" },
          h("h2", {}, "Step by step"),
          this.#controls(),
          this.#timeline,
          legend(),
          this.#now,
          this.#cachedView,
        ),
        this.#all(),
        h(
          "section",
          { class: "figures" },
          h("h2", {}, "Reproduce"),
          copied("The command", command),
          copied("The plan, a scenario file", plan),
        ),
        omitted.length > 0 &&
          h(
            "section",
            { class: "figures" },
            h("h2", {}, "What is left out"),
            ...omitted.map((text) => h("p", {}, text)),
          ),
      ),
    );
    this.#draw();
    keys.addEventListener("keydown", (event) => this.#key(event as KeyboardEvent), { signal: this.#closed.signal });
  }

  /** Renders the narrative: the causes on one side, the consequences on the other. */
  #narrative(): HTMLElement {
    const sections = this.#run.narrative.map(({ title, sentences }) =>
      h(
        "section",
        {},
        h("h2", {}, title),
        h("ol", {}, ...sentences.map((sentence) => h("li", {}, ...this.#sentence(sentence)))),
      ),
    );
    return h("div", { class: "narrative" }, h("div", {}, ...sections.slice(0, 2)), h("div", {}, ...sections.slice(2)));
  }

  #sentence({ text, atMs, step }: Sentence): (Node | string)[] {
    const at = atMs === undefined ? [] : [h("span", { class: "at" }, sinceText(atMs, this.#run.startMs)), " "];
    return step === undefined ? [...at, text] : [this.#link(step, ...at, text)];
  }

  #link(step: number, ...content: readonly (Node | string)[]): HTMLElement {
    return addListener(h("button", { type: "button", class: "link", title: "Show this step" }, ...content), {
      onclick: () => {
        this.#go(step);
        this.#timeline.scrollIntoView({ block: "center" });
      },
    });
  }

  #controls(): HTMLElement {
    const { violations, objects } = this.#run;
    const [first] = violations;
    this.#fillObjects();
    addListener(this.#objects, {
      onchange: () => {
        this.#object = Number(this.#objects.value);
        this.#draw();
      },
    });
    const others = objects.length - objects.filter(({ isConcerned }) => isConcerned).length;
    return h(
      "div",
      { class: "run-controls" },
      button("← Previous", "Previous step (left arrow)", () => this.#move(-1)),
      button("Next →", "Next step (right arrow)", () => this.#move(1)),
      first !== undefined && button("Where it goes wrong", "Where it goes wrong (V)", () => this.#go(first.step)),
      h("label", {}, "Versions of ", this.#objects),
      others > 0 && this.#switch(`${others} other objects`, "allObjects"),
      this.#switch("controllers that only look on", "allControllers"),
    );
  }

  #switch(label: string, what: "allObjects" | "allControllers"): HTMLElement {
    const box = h("input", { type: "checkbox" });
    addListener(box, {
      onchange: () => {
        this.#scope = { ...this.#scope, [what]: box.checked };
        this.#fillObjects();
        this.#draw();
      },
    });
    return h("label", {}, box, ` ${label}`);
  }

  #fillObjects(): void {
    const { objects } = this.#run;
    const offered = objects.flatMap(({ isConcerned }, place) =>
      isConcerned || this.#scope.allObjects || place === this.#object ? place : [],
    );
    this.#objects.replaceChildren(
      ...offered.map((place) => h("option", { value: place, selected: place === this.#object }, objects[place]!.name)),
    );
  }

  #draw(): void {
    const { lanes, steps } = lanesOf(this.#run, this.#scope);
    this.#lanes = lanes;
    this.#steps = steps;
    const before = this.#view;
    const hadFocus = before?.hadFocus ?? false;
    this.#view = new RunLanesView(
      { run: this.#run, cachedVersions: this.#cachedVersions, lanes, steps, object: this.#object },
      (place) => this.#go(this.#steps[place] ?? 0),
    );
    const left = before?.scrollLeft;
    this.#timeline.replaceChildren(this.#view.element);
    if (left !== undefined) this.#view.scrollLeft = left;
    if (hadFocus) this.#view.focus();
    this.#go(this.#step);
  }

  /** Moves to the step, or to the first displayed step after it. */
  #go(step: number): void {
    const place = Math.min(this.#placeOf(step), this.#steps.length - 1);
    const shown = this.#steps[place];
    if (shown === undefined) return;
    this.#step = shown;
    this.#view?.show(place);
    const { atMs, text, more, kind } = this.#run.steps[shown]!;
    this.#now.className = kind === "violation" ? "step-now wrong" : "step-now";
    this.#now.replaceChildren(
      h(
        "span",
        { class: "muted" },
        `Step ${place + 1} of ${this.#steps.length}, ${sinceText(atMs, this.#run.startMs)}: `,
      ),
      h("strong", {}, text),
      more === undefined ? "" : ` ${more}`,
      ...this.#meanwhile(shown),
    );
    const actors = this.#lanes.flatMap(({ kind: lane, actor }) =>
      lane === "cache" && actor !== undefined ? actor : [],
    );
    this.#cachedView.replaceChildren(
      ...(this.#object === undefined
        ? []
        : [cachedViewTable(this.#run, this.#cachedVersions, { step: shown, object: this.#object, actors })]),
    );
  }

  /** Renders the scenario events that are active at a step. */
  #meanwhile(step: number): HTMLElement[] {
    const going = this.#run.scenarioEvents.filter(
      ({ isOngoingAtEnd, from, to = Infinity }) => isOngoingAtEnd && from < step && step <= to,
    );
    return going.length === 0
      ? []
      : [h("span", { class: "meanwhile" }, `Meanwhile: ${meanwhileText(going.map(({ label }) => label))}`)];
  }

  #placeOf(step: number): number {
    const place = this.#steps.findIndex((each) => each >= step);
    return place === -1 ? this.#steps.length - 1 : place;
  }

  #move(by: -1 | 1): void {
    const step = this.#steps[this.#placeOf(this.#step) + by];
    if (step !== undefined) this.#go(step);
  }

  #key(event: KeyboardEvent): void {
    const { target, key } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // These elements handle the arrow keys themselves.
    if (target instanceof Element && target.closest("select, pre, .cached-view, .all-steps") !== null) return;
    const first = this.#run.violations[0];
    if (key === "ArrowLeft") this.#move(-1);
    else if (key === "ArrowRight") this.#move(1);
    else if ((key === "v" || key === "V") && first !== undefined) this.#go(first.step);
    else return;
    event.preventDefault();
  }

  /** Renders all steps as a table. */
  #all(): HTMLElement {
    const { steps, startMs } = this.#run;
    const summary = h("summary", {}, "All steps as a table");
    const details = h("details", { class: "all-steps" }, summary);
    return addListener(details, {
      ontoggle: () => {
        if (!details.open) return;
        details.replaceChildren(
          summary,
          figureTableView({
            title: "All steps",
            head: ["", "what happens", "details"],
            rows: this.#steps.map((step) => {
              const { atMs, text, more = "" } = steps[step]!;
              return [sinceText(atMs, startMs), text, more];
            }),
          }),
        );
      },
    });
  }
}

/** The latest events come first. */
function meanwhileText(labels: readonly string[]): string {
  const shown = labels.slice(-MAX_MEANWHILE).toReversed();
  return `${shown.join("; ")}${labels.length > shown.length ? `; and ${labels.length - shown.length} more` : ""}`;
}

function copied(title: string, text: string): HTMLElement {
  return h(
    "div",
    { class: "copied" },
    h(
      "div",
      { class: "copied-head" },
      h("h3", {}, title),
      button("Copy", `Copy: ${title}`, () => void navigator.clipboard.writeText(text)),
    ),
    h("pre", { tabindex: 0, role: "region", "aria-label": title }, text),
  );
}

function legend(): HTMLElement {
  const shape = (drawn: SVGElement): SVGSVGElement =>
    svg("svg", { class: "run-chart", width: 14, height: 14, "aria-hidden": "true" }, drawn);
  return h(
    "ul",
    { class: "run-legend", "aria-label": "What the shapes mean" },
    h("li", { class: "stale-key" }, "a cache that is stale: something else is stored"),
    h("li", { class: "fresh-key" }, "a cache that shows what is stored"),
    ...LEGEND.map(([look, text]) => h("li", {}, shape(mark(look, 7, 7, text)), text)),
  );
}
