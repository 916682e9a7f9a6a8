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
import { isAimed, isLasting } from "./plan-words.js";
import type { PlayedRecords } from "./record-plan.js";
import type { SeenObject } from "./seen-objects.js";
import { storyOf } from "./story.js";
import { type KnownActor, type ToldRun, type ToldStep, isAside, toldRun } from "./told-steps.js";

/** Steps that a page can hold and still move smoothly. */
const MOST_STEPS = 3_000;
/** Of these, how many come after what went wrong. */
const MOST_AFTER = 600;
const LONGEST_TEXT = 600;
const UID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

export interface RecordedRunOptions {
  readonly command: string;
  /** What should have held, by the invariant's name. */
  readonly invariants: readonly Pick<Invariant, "name" | "sentence">[];
  readonly mostSteps?: number;
}

/** What the page shows of a run in which something did not hold. */
export function recordedRunOf(
  played: PlayedRecords,
  { command, invariants, mostSteps = MOST_STEPS }: RecordedRunOptions,
): RecordedRun {
  const { plan, forgotten } = played;
  const told = toldRun(played);
  const aimed = (plan.events ?? []).filter((_, index) => isAimed(plan, index)).length;
  const [first] = told.steps.flatMap(({ violation }) => violation ?? []);
  const concerned = first === undefined ? new Set<SeenObject>() : told.objects.concerned(first);
  const { from, steps, left } = chosen(told, { concerned, most: mostSteps });
  const sentenceOf = (name: string): string | undefined => invariants.find((each) => each.name === name)?.sentence;
  const story =
    first === undefined
      ? undefined
      : storyOf({
          plan,
          steps: [...from, ...steps],
          decisions: told.decisions,
          violation: first,
          sentence: sentenceOf(first.invariant),
          concerned,
        });
  const places = new Places(concerned, told);
  const earlier = knowledge(from, places);
  const shown = steps.map((step) => places.step(step));
  const offset = from.length;
  const startMs = Date.parse(plan.start);
  return {
    page: "recorded-run",
    name: plan.name ?? `seed ${plan.seed}`,
    startMs,
    endMs: Math.max(startMs, shown.at(-1)?.atMs ?? startMs),
    violations: steps.flatMap(({ violation }, step) => {
      if (violation === undefined) return [];
      const { invariant, subject: about, message } = violation;
      const sentence = sentenceOf(invariant);
      return { invariant, about, message, step, ...(sentence === undefined ? {} : { sentence }) };
    }),
    narrative: (story?.parts ?? []).map(({ title, sentences }) => ({
      title,
      sentences: sentences.map(({ text, step, atMs }) => ({
        text: places.named(text),
        ...(atMs === undefined ? {} : { atMs }),
        ...(step === undefined || step < offset ? {} : { step: step - offset }),
      })),
    })),
    objects: places.objects(),
    actors: places.actors(),
    steps: shown,
    scenarioEvents: happeningBars(steps, plan),
    initialVersions: earlier,
    selected: story?.selected === undefined ? undefined : places.object(story.selected),
    plan: planText(plan),
    command,
    omitted: [
      ...(forgotten === 0
        ? []
        : [`The first ${forgotten.toLocaleString("en")} records of this long run are forgotten.`]),
      ...left,
      ...(aimed === 0 ? [] : [`Faults of single requests, ${aimed} in the plan, are shown where they hit.`]),
    ],
  };
}

/** A plan as the scenario file that plays it. */
export function planText(plan: FaultPlan): string {
  return stringify(plan, { lineWidth: 0, aliasDuplicateObjects: false });
}

interface Chosen {
  /** What only tells what was known before. */
  readonly from: readonly ToldStep[];
  readonly steps: readonly ToldStep[];
  readonly left: readonly string[];
}

/** What there is room for: what is about the objects concerned first, and then what is near to where it went wrong. */
function chosen(
  { steps }: ToldRun,
  { concerned, most }: { readonly concerned: ReadonlySet<SeenObject>; readonly most: number },
): Chosen {
  const left: string[] = [];
  const isConcerned = ({ object }: ToldStep): boolean => object !== undefined && concerned.has(object);
  const isGeneral = ({ kind }: ToldStep): boolean =>
    kind === "happening" || kind === "note" || kind === "error" || kind === "violation";
  let kept = steps.filter((step) => !isAside(step) || isConcerned(step) || isGeneral(step));
  const aside = steps.length - kept.length;
  if (aside > 0) left.push(`${aside.toLocaleString("en")} steps about Leases and Events are left out.`);
  if (kept.length > most) {
    const about = kept.filter((step) => isConcerned(step) || isGeneral(step));
    left.push(
      `${(kept.length - about.length).toLocaleString("en")} steps about objects that are not concerned are left out.`,
    );
    kept = about;
  }
  if (kept.length <= most) return { from: [], steps: kept, left };
  const moment = Math.max(
    0,
    kept.findIndex(({ kind }) => kind === "violation"),
  );
  const end = Math.min(kept.length, Math.max(most, moment + 1 + Math.min(MOST_AFTER, most >>> 2)));
  const begin = Math.max(0, end - most);
  if (begin > 0)
    left.push(`${begin.toLocaleString("en")} earlier steps are left out; what was known after them is shown.`);
  if (end < kept.length) left.push(`${(kept.length - end).toLocaleString("en")} later steps are left out.`);
  return { from: kept.slice(0, begin), steps: kept.slice(begin, end), left };
}

/** Objects, their versions and actors by the places that they have in the lists. */
class Places {
  readonly #concerned: ReadonlySet<SeenObject>;
  readonly #told: ToldRun;
  readonly #actors = new Map<string, number>();
  readonly #objects = new Map<SeenObject, number>();
  /** Of each object: its versions, as they are stored. */
  readonly #versions: Map<string, { readonly index: number; readonly fields: Readonly<Record<string, string>> }>[] = [];

  constructor(concerned: ReadonlySet<SeenObject>, told: ToldRun) {
    this.#concerned = concerned;
    this.#told = told;
  }

  actor(name: string): number {
    return placeIn(this.#actors, name);
  }

  object(object: SeenObject): number {
    const place = placeIn(this.#objects, object);
    this.#versions[place] ??= new Map();
    return place;
  }

  version(object: SeenObject, stored: NonNullable<ToldStep["version"]>): number {
    const versions = this.#versions[this.object(object)]!;
    const { resourceVersion = "" } = stored.metadata;
    let version = versions.get(resourceVersion);
    if (version === undefined)
      versions.set(resourceVersion, (version = { index: versions.size, fields: fieldsOf(stored) }));
    return version.index;
  }

  step({ atMs, kind, look, text, more, actor, life: incarnation, object, version }: ToldStep): Step {
    const details = more?.();
    return {
      atMs,
      kind,
      look,
      text: this.named(text()),
      ...(details === undefined || details === "" ? {} : { more: this.named(details) }),
      ...(actor === undefined ? {} : { actor: this.actor(actor) }),
      ...(incarnation === undefined ? {} : { incarnation }),
      ...(object === undefined ? {} : { object: this.object(object) }),
      ...(object === undefined || version === undefined ? {} : { version: this.version(object, version) }),
    };
  }

  /** A text that has the names of objects instead of their UIDs, which say nothing to readers. */
  named(text: string): string {
    return clipped(text.replaceAll(UID, (uid) => this.#told.objects.withUid(uid)?.name ?? uid));
  }

  actors(): Actor[] {
    const involved = new Set(
      this.#told.steps.flatMap(({ kind, actor, object }) =>
        kind !== "cache" && actor !== undefined && object !== undefined && this.#concerned.has(object) ? actor : [],
      ),
    );
    return [...this.#actors.keys()].map((name) => {
      const known = this.#told.actors.get(name) ?? { component: name, process: "" };
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

function placeIn<Key>(places: Map<Key, number>, key: Key): number {
  let place = places.get(key);
  if (place === undefined) places.set(key, (place = places.size));
  return place;
}

function knowledge(steps: readonly ToldStep[], places: Places): InitialCachedVersions {
  const store = new Map<number, number>();
  const caches = new Map<number, { readonly life: number; readonly objects: Map<number, number> }>();
  for (const { kind, actor, life = 1, object, version } of steps) {
    if (object === undefined || (kind !== "change" && kind !== "cache")) continue;
    let known = store;
    if (kind === "cache") {
      const keeper = places.actor(actor!);
      let cache = caches.get(keeper);
      if (cache?.life !== life) caches.set(keeper, (cache = { life, objects: new Map() }));
      known = cache.objects;
    }
    if (version === undefined) known.delete(places.object(object));
    else known.set(places.object(object), places.version(object, version));
  }
  return {
    store: [...store],
    caches: [...caches].flatMap(([actor, { objects }]) =>
      [...objects].map(([object, version]) => [actor, object, version] as const),
    ),
    incarnations: [...caches].map(([actor, { life }]) => [actor, life] as const),
  };
}

/** What goes wrong on purpose, from its first step to its last; one that only ends here begins with the page. */
function happeningBars(steps: readonly ToldStep[], plan: FaultPlan): ScenarioEventBar[] {
  const begun = new Map<
    number,
    { readonly label: string; readonly from: number; to?: number; readonly lasts: boolean }
  >();
  for (const [index, step] of steps.entries()) {
    if (step.happening === undefined) continue;
    const { index: which, phase } = step.happening;
    const known = begun.get(which);
    if (phase === "end" && known !== undefined) known.to = index;
    else if (phase === "end") begun.set(which, { label: step.text(), from: 0, to: index, lasts: true });
    else begun.set(which, { label: clipped(step.text()), from: index, lasts: isLasting(plan, which) });
  }
  return [...begun.values()];
}

function clipped(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}
