import { parseDuration } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import { durationText } from "../generate/duration-text.js";
import { endOfScenarioEvent, startOfScenarioEvent } from "../generate/event-times.js";
import type { Violation } from "../invariant.js";
import type { ScenarioEventEntry } from "../scenario/scenario-file.js";
import { kindOfObject } from "./kind-of-object.js";
import { refersTo, missingReferences, nameOf } from "./references.js";
import { omissions, reductions, withChange } from "./simpler-values.js";

export interface MinimizeOptions {
  /** How many plans to play at most. Default: 1000. */
  readonly budget?: number;
  /** Told after each play. */
  readonly onProgress?: (progress: MinimizeProgress) => void;
  /** Ends it with what has been reached. */
  readonly signal?: AbortSignal;
}

export interface MinimizeProgress {
  readonly plansRun: number;
  readonly events: number;
  readonly manifests: number;
}

export interface Minimized {
  readonly plan: FaultPlan;
  /** What is wrong when it is played. */
  readonly violation: Violation;
  readonly plansRun: number;
  /** Whether nothing more can be taken away: not so when the budget was used up. */
  readonly isMinimal: boolean;
}

/**
 * Finds a smaller plan that goes wrong in the same way: drops happenings, objects and what is said of them, settings and fields
 * (delta debugging), then makes times and numbers smaller, until nothing more can be left out. What is the same way is the
 * invariant and the kind of object.
 *
 * Since every part of a run draws from a source of its own, what is dropped changes nothing about the rest.
 *
 * @param fails - Plays a plan. Answers with the violation that is looked for, or the first if there are others.
 * @throws Error when the plan itself does not fail.
 */
export async function minimize(
  plan: FaultPlan,
  fails: (plan: FaultPlan) => Promise<Violation | undefined>,
  options: MinimizeOptions = {},
): Promise<Minimized> {
  const violation = await fails(plan);
  if (violation === undefined) throw new Error("the plan does not fail: there is nothing to minimise");
  const search = new Search(plan, violation, fails, options);
  return search.run();
}

const DEFAULT_BUDGET = 1_000;

class Search {
  readonly #fails: (plan: FaultPlan) => Promise<Violation | undefined>;
  readonly #options: MinimizeOptions;
  readonly #budget: number;
  /** How long a plan has to go on after its last happening. */
  readonly #settleMs: number;
  readonly #isFoundAtRest: boolean;
  /** Plans that are known not to fail. */
  readonly #passed = new Set<string>();
  #plan: FaultPlan;
  #violation: Violation;
  #plansRun = 1;

  constructor(
    plan: FaultPlan,
    violation: Violation,
    fails: (plan: FaultPlan) => Promise<Violation | undefined>,
    options: MinimizeOptions,
  ) {
    this.#plan = plan;
    this.#violation = violation;
    this.#fails = fails;
    this.#options = options;
    this.#budget = options.budget ?? DEFAULT_BUDGET;
    this.#settleMs = lengthMs(plan) - lastEndMs(plan);
    this.#isFoundAtRest = isAtRest(plan, violation);
  }

  async run(): Promise<Minimized> {
    // What makes every play after it cheaper comes first.
    await this.#dropLater();
    await this.#shorten();
    await this.#dropKinds();
    for (let before: FaultPlan | undefined; before !== this.#plan && !this.#isOver;) {
      before = this.#plan;
      await this.#drop(
        (plan) => plan.events ?? [],
        (plan, events) => ({ ...plan, events }),
      );
      await this.#drop((plan) => plan.manifests, withManifests);
      await this.#drop(
        (plan) => plan.workloads ?? [],
        (plan, workloads) => ({ ...plan, workloads }),
      );
      await this.#change(omissions);
      await this.#change(reductions);
      await this.#shorten();
    }
    return { plan: this.#plan, violation: this.#violation, plansRun: this.#plansRun, isMinimal: !this.#isOver };
  }

  get #isOver(): boolean {
    return this.#plansRun >= this.#budget || this.#options.signal?.aborted === true;
  }

  /** What has not begun when it goes wrong has no part in it. */
  async #dropLater(): Promise<void> {
    const { events = [], start } = this.#plan;
    const wrongMs = this.#violation.atMs - Date.parse(start);
    const earlier = events.filter((entry) => startOfScenarioEvent(entry) <= wrongMs);
    if (earlier.length < events.length) await this.#try({ ...this.#plan, events: earlier });
  }

  /** All happenings of one kind, or all requests of one component that fail: what is wrong is mostly wrong for one reason. */
  async #dropKinds(): Promise<void> {
    const kinds = new Set((this.#plan.events ?? []).map(groupOf));
    if (kinds.size < 2) return;
    for (const kind of kinds) {
      const { events = [] } = this.#plan;
      const rest = events.filter((entry) => groupOf(entry) !== kind);
      if (rest.length < events.length) await this.#try({ ...this.#plan, events: rest });
    }
  }

  /** Drops all items, then halves, quarters and so on, and each by itself; the last first. */
  async #drop<Item>(
    itemsOf: (plan: FaultPlan) => readonly Item[],
    build: (plan: FaultPlan, rest: readonly Item[]) => FaultPlan,
  ): Promise<void> {
    for (let size = itemsOf(this.#plan).length; size >= 1; size = Math.floor(size / 2))
      for (let end = Infinity; end > 0; end -= size) {
        // With an item there may have gone others.
        const items = itemsOf(this.#plan);
        end = Math.min(end, items.length);
        const rest = items.filter((_, index) => index < end - size || index >= end);
        if (rest.length < items.length) await this.#try(build(this.#plan, rest));
      }
  }

  /** Makes every change that can be made. After one, those that come next in the list are looked for anew: paths may have gone. */
  async #change(changesOf: typeof omissions): Promise<void> {
    for (let index = 0; !this.#isOver;) {
      const change = changesOf(this.#plan)[index];
      if (change === undefined) return;
      if (!(await this.#try(withChange(this.#plan, change)))) index++;
    }
  }

  /** The time after a violation that was found on the way is of no use to anybody. */
  async #shorten(): Promise<void> {
    if (this.#isFoundAtRest) return;
    const neededMs = Math.floor((this.#violation.atMs - Date.parse(this.#plan.start)) / 1_000 + 1) * 1_000;
    if (neededMs < lengthMs(this.#plan)) await this.#try({ ...this.#plan, for: durationText(neededMs) }, neededMs);
  }

  /** @param forMs - Default: as long after the last happening as it was at the beginning, but no longer than it is. */
  async #try(
    changed: FaultPlan,
    forMs = Math.min(lengthMs(this.#plan), lastEndMs(changed) + this.#settleMs),
  ): Promise<boolean> {
    const plan: FaultPlan = { ...changed, for: durationText(forMs) };
    const text = JSON.stringify(plan);
    if (this.#isOver || this.#passed.has(text) || !isRunnable(plan)) return false;
    this.#plansRun++;
    const violation = await this.#fails(plan);
    const isSame = violation !== undefined && this.#isSame(plan, violation);
    if (isSame) {
      this.#plan = plan;
      this.#violation = violation;
    } else this.#passed.add(text);
    this.#options.onProgress?.({
      plansRun: this.#plansRun,
      events: this.#plan.events?.length ?? 0,
      manifests: this.#plan.manifests.length,
    });
    return isSame;
  }

  /** What is wrong at the end of a plan that was cut short would only be unfinished. */
  #isSame(plan: FaultPlan, { invariant, subject, atMs }: Violation): boolean {
    return (
      invariant === this.#violation.invariant &&
      kindOfObject(subject) === kindOfObject(this.#violation.subject) &&
      isAtRest(plan, { atMs }) === this.#isFoundAtRest
    );
  }
}

function groupOf(entry: ScenarioEventEntry): string {
  const who = entry.requestFails?.components?.join() ?? "";
  return `${Object.keys(entry).find((key) => key !== "at" && key !== "for")} ${who}`;
}

/** Without an object there is nothing to say of it, nor of what is in it. */
function withManifests(plan: FaultPlan, rest: FaultPlan["manifests"]): FaultPlan {
  const dropped = plan.manifests.filter((object) => !rest.includes(object));
  const namespaces = dropped.flatMap(({ kind, metadata }) => (kind === "Namespace" ? [metadata.name] : []));
  const manifests = rest.filter(({ metadata: { namespace } }) => !namespaces.includes(namespace));
  const gone = plan.manifests.filter((object) => !manifests.includes(object));
  const goneNames = new Set(gone.map(nameOf));
  return {
    ...plan,
    manifests,
    workloads: (plan.workloads ?? []).filter((entry) => !gone.some((object) => refersTo(entry, object))),
    events: (plan.events ?? []).filter(
      (entry) =>
        !gone.some((object) => refersTo(entry, object)) &&
        !(typeof entry.apply === "object" && goneNames.has(nameOf(entry.apply))),
    ),
  };
}

function isRunnable(plan: FaultPlan): boolean {
  const endMs = lengthMs(plan);
  return (
    missingReferences(plan).length === 0 && (plan.events ?? []).every((entry) => startOfScenarioEvent(entry) < endMs)
  );
}

function lengthMs(plan: FaultPlan): number {
  return parseDuration(plan.for) ?? 0;
}

function lastEndMs({ events = [] }: FaultPlan): number {
  return Math.max(0, ...events.map(endOfScenarioEvent));
}

function isAtRest(plan: FaultPlan, { atMs }: Pick<Violation, "atMs">): boolean {
  return atMs >= Date.parse(plan.start) + lengthMs(plan);
}
