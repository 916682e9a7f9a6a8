import type { FaultPlan, Invariant } from "@kubewright/simulation";
import { stringify } from "yaml";
import type {
  Actor,
  ScenarioEventBar,
  InitialCachedVersions,
  RecordedObject,
  RecordedRun,
  Step,
} from "@kubewright/timeline/data";

import { fieldsOf, split } from "./object-fields.js";
import { targetsSingleRequests, isLasting } from "./plan-sentences.js";
import type { PlanRecording } from "./record-plan.js";
import type { RunObject } from "./run-objects.js";
import { buildNarrative } from "./narrative.js";
import { type KnownActor, type RunTrace, type TraceStep, isBackgroundStep, buildRunTrace } from "./trace-steps.js";

/** Maximum number of steps that a page can display smoothly. */
const MAX_STEPS = 3_000;
/** Maximum number of these steps after the violation. */
const MAX_AFTER = 600;
const LONGEST_TEXT = 600;
const UID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

export interface RecordedRunOptions {
  readonly command: string;
  /** Sentences of the invariants, by name. */
  readonly invariants: readonly Pick<Invariant, "name" | "sentence">[];
  readonly maxSteps?: number;
}

/** Builds the page data of a run with a violation. */
export function buildRecordedRun(
  recording: PlanRecording,
  { command, invariants, maxSteps = MAX_STEPS }: RecordedRunOptions,
): RecordedRun {
  const { plan, dropped } = recording;
  const trace = buildRunTrace(recording);
  const singleRequestFaults = (plan.events ?? []).filter((_, index) => targetsSingleRequests(plan, index)).length;
  const [first] = trace.steps.flatMap(({ violation }) => violation ?? []);
  const concerned = first === undefined ? new Set<RunObject>() : trace.objects.concerned(first);
  const { earlierSteps, steps, omitted } = selectSteps(trace, { concerned, max: maxSteps });
  const sentenceOf = (name: string): string | undefined => invariants.find((each) => each.name === name)?.sentence;
  const narrative =
    first === undefined
      ? undefined
      : buildNarrative({
          plan,
          steps: [...earlierSteps, ...steps],
          decisions: trace.decisions,
          violation: first,
          sentence: sentenceOf(first.invariant),
          concerned,
        });
  const indexes = new Indexes(concerned, trace);
  const initial = initialViews(earlierSteps, indexes);
  const shown = steps.map((step) => indexes.step(step));
  const offset = earlierSteps.length;
  const startMs = Date.parse(plan.start);
  return {
    page: "recorded-run",
    name: plan.name ?? `seed ${plan.seed}`,
    startMs,
    endMs: Math.max(startMs, shown.at(-1)?.atMs ?? startMs),
    violations: steps.flatMap(({ violation }, step) => {
      if (violation === undefined) return [];
      const { invariant, subject, message } = violation;
      const sentence = sentenceOf(invariant);
      return { invariant, subject, message, step, ...(sentence === undefined ? {} : { sentence }) };
    }),
    narrative: (narrative?.parts ?? []).map(({ title, sentences }) => ({
      title,
      sentences: sentences.map(({ text, step, atMs }) => ({
        text: indexes.withObjectNames(text),
        ...(atMs === undefined ? {} : { atMs }),
        ...(step === undefined || step < offset ? {} : { step: step - offset }),
      })),
    })),
    objects: indexes.objects(),
    actors: indexes.actors(),
    steps: shown,
    scenarioEvents: scenarioEventBars(steps, plan),
    initialVersions: initial,
    selected: narrative?.selected === undefined ? undefined : indexes.object(narrative.selected),
    plan: planText(plan),
    command,
    omitted: [
      ...(dropped === 0 ? [] : [`The first ${dropped.toLocaleString("en")} records of this long run are forgotten.`]),
      ...omitted,
      ...(singleRequestFaults === 0
        ? []
        : [`Faults of single requests, ${singleRequestFaults} in the plan, are shown where they hit.`]),
    ],
  };
}

/** Formats a plan as the scenario file that runs it. */
export function planText(plan: FaultPlan): string {
  return stringify(plan, { lineWidth: 0, aliasDuplicateObjects: false });
}

interface SelectedSteps {
  /** Steps that are not shown, and only supply the initial views. */
  readonly earlierSteps: readonly TraceStep[];
  readonly steps: readonly TraceStep[];
  readonly omitted: readonly string[];
}

/** Selects the steps that fit: first those about concerned objects, then those close to the violation. */
function selectSteps(
  { steps }: RunTrace,
  { concerned, max }: { readonly concerned: ReadonlySet<RunObject>; readonly max: number },
): SelectedSteps {
  const omitted: string[] = [];
  const isConcerned = ({ object }: TraceStep): boolean => object !== undefined && concerned.has(object);
  const isGeneral = ({ kind }: TraceStep): boolean =>
    kind === "scenarioEvent" || kind === "note" || kind === "error" || kind === "violation";
  let selected = steps.filter((step) => !isBackgroundStep(step) || isConcerned(step) || isGeneral(step));
  const aside = steps.length - selected.length;
  if (aside > 0) omitted.push(`${aside.toLocaleString("en")} steps about Leases and Events are left out.`);
  if (selected.length > max) {
    const about = selected.filter((step) => isConcerned(step) || isGeneral(step));
    omitted.push(
      `${(selected.length - about.length).toLocaleString("en")} steps about objects that are not concerned are left out.`,
    );
    selected = about;
  }
  if (selected.length <= max) return { earlierSteps: [], steps: selected, omitted };
  const moment = Math.max(
    0,
    selected.findIndex(({ kind }) => kind === "violation"),
  );
  const end = Math.min(selected.length, Math.max(max, moment + 1 + Math.min(MAX_AFTER, max >>> 2)));
  const begin = Math.max(0, end - max);
  if (begin > 0)
    omitted.push(`${begin.toLocaleString("en")} earlier steps are left out; what was known after them is shown.`);
  if (end < selected.length) omitted.push(`${(selected.length - end).toLocaleString("en")} later steps are left out.`);
  return { earlierSteps: selected.slice(0, begin), steps: selected.slice(begin, end), omitted };
}

/** Assigns list indexes to objects, versions and actors. */
class Indexes {
  readonly #concerned: ReadonlySet<RunObject>;
  readonly #trace: RunTrace;
  readonly #actors = new Map<string, number>();
  readonly #objects = new Map<RunObject, number>();
  /** The stored versions of each object, by resource version. */
  readonly #versions: Map<string, { readonly index: number; readonly fields: Readonly<Record<string, string>> }>[] = [];

  constructor(concerned: ReadonlySet<RunObject>, trace: RunTrace) {
    this.#concerned = concerned;
    this.#trace = trace;
  }

  actor(name: string): number {
    return indexIn(this.#actors, name);
  }

  object(object: RunObject): number {
    const place = indexIn(this.#objects, object);
    this.#versions[place] ??= new Map();
    return place;
  }

  version(object: RunObject, stored: NonNullable<TraceStep["version"]>): number {
    const versions = this.#versions[this.object(object)]!;
    const { resourceVersion = "" } = stored.metadata;
    let version = versions.get(resourceVersion);
    if (version === undefined)
      versions.set(resourceVersion, (version = { index: versions.size, fields: fieldsOf(stored) }));
    return version.index;
  }

  step({ atMs, kind, look, text, more, actor, life: incarnation, object, version }: TraceStep): Step {
    const details = more?.();
    return {
      atMs,
      kind,
      look,
      text: this.withObjectNames(text()),
      ...(details === undefined || details === "" ? {} : { more: this.withObjectNames(details) }),
      ...(actor === undefined ? {} : { actor: this.actor(actor) }),
      ...(incarnation === undefined ? {} : { incarnation }),
      ...(object === undefined ? {} : { object: this.object(object) }),
      ...(object === undefined || version === undefined ? {} : { version: this.version(object, version) }),
    };
  }

  /** Replaces UIDs in a text by object names. */
  withObjectNames(text: string): string {
    return clipped(text.replaceAll(UID, (uid) => this.#trace.objects.withUid(uid)?.name ?? uid));
  }

  actors(): Actor[] {
    const involved = new Set(
      this.#trace.steps.flatMap(({ kind, actor, object }) =>
        kind !== "cache" && actor !== undefined && object !== undefined && this.#concerned.has(object) ? actor : [],
      ),
    );
    return [...this.#actors.keys()].map((name) => {
      const known = this.#trace.actors.get(name) ?? { component: name, process: "" };
      return { name, ...known, isController: isController(known), isInvolved: involved.has(name) };
    });
  }

  objects(): RecordedObject[] {
    return [...this.#objects.keys()].map((object, place) => {
      const versions = [...this.#versions[place]!];
      const { same, rest } = split(versions.map(([, { fields }]) => fields));
      return {
        name: object.name,
        resource: object.resource,
        isConcerned: this.#concerned.has(object),
        fields: same,
        versions: versions.map(([resourceVersion], index) => ({ resourceVersion, fields: rest[index]! })),
      };
    });
  }
}

const NO_CONTROLLERS: ReadonlySet<string> = new Set(["", "kubelet", "scheduler", "user", "kubectl"]);

function isController({ component }: KnownActor): boolean {
  return !NO_CONTROLLERS.has(component);
}

function indexIn<Key>(places: Map<Key, number>, key: Key): number {
  let place = places.get(key);
  if (place === undefined) places.set(key, (place = places.size));
  return place;
}

function initialViews(steps: readonly TraceStep[], indexes: Indexes): InitialCachedVersions {
  const store = new Map<number, number>();
  const caches = new Map<number, { readonly life: number; readonly objects: Map<number, number> }>();
  for (const { kind, actor, life = 1, object, version } of steps) {
    if (object === undefined || (kind !== "change" && kind !== "cache")) continue;
    let known = store;
    if (kind === "cache") {
      const cacheOwner = indexes.actor(actor!);
      let cache = caches.get(cacheOwner);
      if (cache?.life !== life) caches.set(cacheOwner, (cache = { life, objects: new Map() }));
      known = cache.objects;
    }
    if (version === undefined) known.delete(indexes.object(object));
    else known.set(indexes.object(object), indexes.version(object, version));
  }
  return {
    store: [...store],
    caches: [...caches].flatMap(([actor, { objects }]) =>
      [...objects].map(([object, version]) => [actor, object, version] as const),
    ),
    incarnations: [...caches].map(([actor, { life }]) => [actor, life] as const),
  };
}

/**
 * Returns the scenario events from their first step to their last. An event without a first step begins with the page.
 */
function scenarioEventBars(steps: readonly TraceStep[], plan: FaultPlan): ScenarioEventBar[] {
  const begun = new Map<
    number,
    { readonly label: string; readonly from: number; to?: number; readonly isOngoingAtEnd: boolean }
  >();
  for (const [index, step] of steps.entries()) {
    if (step.scenarioEvent === undefined) continue;
    const { index: which, phase } = step.scenarioEvent;
    const known = begun.get(which);
    if (phase === "end" && known !== undefined) known.to = index;
    else if (phase === "end") begun.set(which, { label: step.text(), from: 0, to: index, isOngoingAtEnd: true });
    else begun.set(which, { label: clipped(step.text()), from: index, isOngoingAtEnd: isLasting(plan, which) });
  }
  return [...begun.values()];
}

function clipped(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}
