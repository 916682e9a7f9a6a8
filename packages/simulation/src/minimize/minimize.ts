import type { FaultPlan } from "../fault-plan.js";
import { durationText } from "../generate/duration-text.js";
import { lastEndMs, lengthMs, startOfScenarioEvent } from "../generate/event-times.js";
import type { InvariantViolation } from "../invariant.js";
import type { ScenarioEventEntry } from "../faults/registry.js";
import { kindOfObject } from "./kind-of-object.js";
import { refersTo, missingReferences, nameOf } from "./references.js";
import { omissions, reductions, withChange } from "./simpler-values.js";

export interface MinimizeOptions {
  /** Maximum number of plans to run. Default: 1000. */
  readonly budget?: number;
  /** Called after each run. */
  readonly onProgress?: (progress: MinimizeProgress) => void;
  /** Ends the minimisation with the smallest plan so far. */
  readonly signal?: AbortSignal;
}

export interface MinimizeProgress {
  readonly plansRun: number;
  readonly events: number;
  readonly manifests: number;
}

export interface Minimized {
  readonly plan: FaultPlan;
  /** InvariantViolation of the minimised plan. */
  readonly violation: InvariantViolation;
  readonly plansRun: number;
  /** Whether nothing more can be removed; false when the budget was used up. */
  readonly isMinimal: boolean;
}

/**
 * Finds a smaller plan with the same violation: drops events, objects with their workload entries, settings and fields
 * (delta debugging), then reduces times and numbers, until nothing more can be removed. Two violations are the same if
 * they have the same invariant and kind of object.
 *
 * Every part of a run draws from its own source, so a removed part does not change the rest.
 *
 * @param fails - Runs a plan. Returns the violation to reproduce, or the first one if there are others.
 * @throws Error when the plan itself does not fail.
 */
export async function minimize(
  plan: FaultPlan,
  fails: (plan: FaultPlan) => Promise<InvariantViolation | undefined>,
  options: MinimizeOptions = {},
): Promise<Minimized> {
  const violation = await fails(plan);
  if (violation === undefined) throw new Error("the plan does not fail: there is nothing to minimise");
  const search = new Search(plan, violation, fails, options);
  return search.run();
}

const DEFAULT_BUDGET = 1_000;

class Search {
  readonly #fails: (plan: FaultPlan) => Promise<InvariantViolation | undefined>;
  readonly #options: MinimizeOptions;
  readonly #budget: number;
  /** Time that a plan needs after its last event. */
  readonly #settleMs: number;
  readonly #isFoundAtRest: boolean;
  /** Plans that are known not to fail, as JSON. */
  readonly #passed = new Set<string>();
  #plan: FaultPlan;
  #violation: InvariantViolation;
  #plansRun = 1;

  constructor(
    plan: FaultPlan,
    violation: InvariantViolation,
    fails: (plan: FaultPlan) => Promise<InvariantViolation | undefined>,
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
    // Changes that make every later run cheaper come first.
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

  /** Drops the events that begin after the violation. */
  async #dropLater(): Promise<void> {
    const { events = [], start } = this.#plan;
    const wrongMs = this.#violation.atMs - Date.parse(start);
    const earlier = events.filter((entry) => startOfScenarioEvent(entry) <= wrongMs);
    if (earlier.length < events.length) await this.#try({ ...this.#plan, events: earlier });
  }

  /** Drops all events of one kind, or all failing requests of one component: a violation mostly has a single cause. */
  async #dropKinds(): Promise<void> {
    const kinds = new Set((this.#plan.events ?? []).map(groupOf));
    if (kinds.size < 2) return;
    for (const kind of kinds) {
      const { events = [] } = this.#plan;
      const rest = events.filter((entry) => groupOf(entry) !== kind);
      if (rest.length < events.length) await this.#try({ ...this.#plan, events: rest });
    }
  }

  /** Drops all items, then halves, quarters and so on, and single ones; the last first. */
  async #drop<Item>(
    itemsOf: (plan: FaultPlan) => readonly Item[],
    build: (plan: FaultPlan, rest: readonly Item[]) => FaultPlan,
  ): Promise<void> {
    for (let size = itemsOf(this.#plan).length; size >= 1; size = Math.floor(size / 2))
      for (let end = Infinity; end > 0; end -= size) {
        // Other items may have been dropped with an item.
        const items = itemsOf(this.#plan);
        end = Math.min(end, items.length);
        const rest = items.filter((_, index) => index < end - size || index >= end);
        if (rest.length < items.length) await this.#try(build(this.#plan, rest));
      }
  }

  /** Tries every change. After a successful one the changes are computed again, because paths may be gone. */
  async #change(changesOf: typeof omissions): Promise<void> {
    for (let index = 0; !this.#isOver;) {
      const change = changesOf(this.#plan)[index];
      if (change === undefined) return;
      if (!(await this.#try(withChange(this.#plan, change)))) index++;
    }
  }

  /** Cuts the plan after a violation that was found during the run. */
  async #shorten(): Promise<void> {
    if (this.#isFoundAtRest) return;
    const neededMs = Math.floor((this.#violation.atMs - Date.parse(this.#plan.start)) / 1_000 + 1) * 1_000;
    if (neededMs < lengthMs(this.#plan)) await this.#try({ ...this.#plan, for: durationText(neededMs) }, neededMs);
  }

  /** @param forMs - Default: as long after the last event as in the original plan, but not longer than now. */
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

  /** A violation at the end of a plan that was cut may only be an unfinished state. */
  #isSame(plan: FaultPlan, { invariant, subject, atMs }: InvariantViolation): boolean {
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

/** Drops the workload entries and events of dropped objects, and the objects in dropped namespaces. */
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

function isAtRest(plan: FaultPlan, { atMs }: Pick<InvariantViolation, "atMs">): boolean {
  return atMs >= Date.parse(plan.start) + lengthMs(plan);
}
