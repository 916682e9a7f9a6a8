import type {
  AnsweredRequest,
  RequestInfo,
  Stored,
  StoredChange,
  ReportedScenarioEvent,
  RunRecord,
  Violation,
} from "@kubewright/simulation";
import { type Actor, changesBetween, type Look, type StepKind, violationText } from "@kubewright/timeline/data";

import { decisionWords } from "./decision-words.js";
import { fieldsOf } from "./object-fields.js";
import { isAimed } from "./plan-words.js";
import type { PlayedRecords } from "./record-plan.js";
import { type SeenObject, SeenObjects, isBackground } from "./seen-objects.js";

/** A step before it is known whether it is shown: its words are found when they are asked for. */
export interface ToldStep {
  readonly atMs: number;
  readonly kind: StepKind;
  readonly look: Look;
  readonly actor?: string;
  readonly life?: number;
  readonly object?: SeenObject;
  /** What is stored, or cached, from then on; absent: nothing. */
  readonly version?: Stored;
  readonly text: () => string;
  readonly more?: () => string | undefined;
  readonly change?: StoredChange;
  readonly request?: RequestInfo;
  readonly violation?: Violation;
  /** Of the plan, and whether it begins or ends. */
  readonly happening?: Pick<ReportedScenarioEvent, "index" | "kind" | "phase">;
}

/** A run as steps, in the order in which they are understood. */
export interface ToldRun {
  readonly steps: readonly ToldStep[];
  readonly objects: SeenObjects;
  /** By the name that steps have for them: those who keep caches, decide or write. */
  readonly actors: ReadonlyMap<string, KnownActor>;
  /** What a write, and the change that it made, were decided by. */
  readonly decisions: ReadonlyMap<ToldStep, ToldStep>;
}

export type KnownActor = Pick<Actor, "component" | "process">;

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);
const READS: ReadonlySet<string> = new Set(["get", "list"]);
/** How far back a sync can have begun, in records. */
const LONGEST_SYNC = 2_000;

export function toldRun({ plan, records, violations }: PlayedRecords): ToldRun {
  const objects = new SeenObjects();
  const actors = new Map<string, KnownActor>();
  const processes = new Set(records.flatMap((record) => processOf(record) || []));
  const actorOf = ({ component, process }: KnownActor): string => {
    // Of a lone controller manager nobody has to say that it is that one.
    const isOnly = process === "" || processes.size < 2 || component.endsWith(process);
    const name = isOnly ? component : `${component} of ${process}`;
    if (!actors.has(name)) actors.set(name, { component, process });
    return name;
  };
  const created = new WeakMap<object, SeenObject>();
  const steps: ToldStep[] = [];
  /** Told before what it is about. */
  let accused: ToldStep[] = [];
  const told = new Set<string>();
  const keepers = new Set<string>();
  const happenings = new Map<number, string>();
  let wasAimed = false;
  for (const record of records) {
    const latest = steps.at(-1);
    if (record.type === "note" && wasAimed) continue;
    wasAimed = record.type === "happening" && isAimed(plan, record.scenarioEvent.index);
    if (wasAimed) continue;
    if (record.type === "note" && latest?.happening?.phase === "begin" && !happenings.has(latest.happening.index)) {
      // What happens is told in words right after its name.
      happenings.set(latest.happening.index, record.message);
      steps[steps.length - 1] = { ...latest, text: () => record.message };
      continue;
    }
    if (record.type === "violation") {
      told.add(keyOf(record.violation));
      accused.push(violationStep(record.violation));
      continue;
    }
    const step = stepOf(record, { objects, actorOf, created, keepers, happenings });
    if (step === undefined) continue;
    // What is found between two steps is found while time goes by.
    if (accused.length > 0 && accused[0]!.atMs !== step.atMs) {
      steps.push(...accused);
      accused = [];
    }
    steps.push(step, ...accused);
    accused = [];
  }
  const endMs = Math.max(0, steps.at(-1)?.atMs ?? 0, ...violations.map(({ atMs }) => atMs));
  const others = violations.filter((violation) => !told.has(keyOf(violation)));
  steps.push(...accused, ...others.map((violation) => ({ ...violationStep(violation), atMs: endMs })));
  const decisions = new Map<ToldStep, ToldStep>();
  return { steps: withDecisionsFirst(steps, decisions), objects, actors, decisions };
}

/** The controller manager that tells of itself; somebody's own controller is a process of its own. */
function processOf(record: RunRecord): string {
  if (record.type === "decision") return record.decision.process;
  if (record.type !== "cache") return "";
  const { process, component } = record.event;
  return process === component ? "" : process;
}

interface Sources {
  readonly objects: SeenObjects;
  readonly actorOf: (actor: KnownActor) => string;
  /** By the body of the request that created them. */
  readonly created: WeakMap<object, SeenObject>;
  /** Actors with caches. */
  readonly keepers: Set<string>;
  /** What happens, in words, by its place in the plan. */
  readonly happenings: ReadonlyMap<number, string>;
}

function stepOf(
  record: Exclude<RunRecord, { readonly type: "violation" }>,
  { objects, actorOf, created, keepers, happenings }: Sources,
): ToldStep | undefined {
  switch (record.type) {
    case "change": {
      const { change } = record;
      const { atMs, type, resource, object, request } = change;
      const seen = objects.see(resource, object);
      if (type === "ADDED" && typeof request?.body === "object" && request.body !== null)
        created.set(request.body, seen);
      const who = request === undefined ? undefined : actorOf(request);
      return {
        atMs,
        kind: "change",
        look: type === "ADDED" ? "added" : type === "DELETED" ? "deleted" : "modified",
        object: seen,
        change,
        text: () => changeText(change, seen, who),
        more: () => changeDetails(change),
        ...(request === undefined || who === undefined ? {} : { request, actor: who, life: request.incarnation }),
        ...(type === "DELETED" ? {} : { version: object }),
      };
    }
    case "cache": {
      const { atMs, type, resource, object, previous, incarnation } = record.event;
      const { resourceVersion = "" } = object.metadata;
      if (type === "update" && previous?.metadata.resourceVersion === resourceVersion) return undefined;
      const actor = actorOf(record.event);
      keepers.add(actor);
      const object_ = objects.see(resource, object);
      const what = type === "delete" ? "is gone" : `is at version ${resourceVersion}`;
      return {
        atMs,
        kind: "cache",
        look: type === "add" ? "added" : type === "delete" ? "deleted" : "modified",
        actor,
        life: incarnation,
        object: object_,
        text: () => `${actor} hears that ${object_.name} ${what}`,
        ...(type === "delete" ? {} : { version: object }),
      };
    }
    case "decision": {
      const { decision } = record;
      const { text, acts, about, error } = decisionWords(decision);
      const actor = actorOf({ component: decision.controller, process: decision.process });
      const object = "uid" in about ? objects.withUid(about.uid) : objects.named(about.resource, about.key);
      return {
        atMs: decision.atMs,
        kind: "decision",
        look: acts ? "acts" : "rests",
        actor,
        life: decision.incarnation,
        text: () => `${actor} decides${object === undefined ? "" : ` for ${object.name}`}: ${text}`,
        more: () => (error === undefined ? undefined : `its sync failed: ${error}`),
        ...(object === undefined ? {} : { object }),
      };
    }
    case "answer": {
      const { request } = record;
      const actor = actorOf(request);
      if (!isWrite(request) && !(READS.has(request.verb) && keepers.has(actor))) return undefined;
      const object = objectOf(request, objects, created);
      return {
        atMs: request.atMs,
        kind: "answer",
        look: lookOf(request),
        actor,
        life: request.incarnation,
        request,
        text: () => `${actor}: ${requestText(request, object)} → ${answerText(request)}`,
        // What a fault says of itself, the answer has said.
        more: () => (request.injected ? undefined : request.message),
        ...(object === undefined ? {} : { object }),
      };
    }
    case "happening": {
      const { atMs, kind, phase, index } = record.scenarioEvent;
      const text = (): string => (phase === "begin" ? kind : `over: ${happenings.get(index) ?? kind}`);
      return { atMs, kind: "happening", look: "plain", text, happening: { index, kind, phase } };
    }
    case "note":
      return { atMs: record.atMs, kind: "note", look: "plain", text: () => record.message };
    case "error": {
      const { atMs, component, error } = record.error;
      const actor = actorOf({ component, process: "" });
      const text = (): string =>
        `${actor} throws ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
      return { atMs, kind: "error", look: "wrong", actor, text };
    }
    default:
      return record satisfies never;
  }
}

function violationStep(violation: Violation): ToldStep {
  const { atMs, invariant } = violation;
  const text = (): string => `${invariant} does not hold: ${violationText(violation)}`;
  return { atMs, kind: "violation", look: "wrong", text, violation };
}

function keyOf({ invariant, subject }: Violation): string {
  return JSON.stringify([invariant, subject]);
}

/** What a request is about; of a creation that came to nothing, what the object would have belonged to. */
function objectOf(
  { body, resource, namespace, name }: AnsweredRequest,
  objects: SeenObjects,
  created: WeakMap<object, SeenObject>,
): SeenObject | undefined {
  const isObject = typeof body === "object" && body !== null;
  const made = isObject ? created.get(body) : undefined;
  if (made !== undefined) return made;
  const named = name === "" ? undefined : objects.named(resource, namespace === "" ? name : `${namespace}/${name}`);
  if (named !== undefined || !isObject) return named;
  const { metadata } = body as {
    readonly metadata?: { readonly ownerReferences?: readonly { readonly uid?: string }[] };
  };
  return objects.withUid(metadata?.ownerReferences?.[0]?.uid ?? "");
}

function lookOf({ code, injected, tookEffect }: AnsweredRequest): Look {
  if (injected && (code === 0 || code >= 400)) return tookEffect ? "lost" : "false";
  return code >= 400 || code === 0 ? "refused" : "done";
}

function requestText(
  { verb, resource, subresource, namespace, name, body }: RequestInfo,
  object: SeenObject | undefined,
): string {
  const kind = subresource === "" ? resource : `${resource}/${subresource}`;
  const generated = (body as { metadata?: { generateName?: string } } | undefined)?.metadata?.generateName;
  const isIt = object?.resource === resource;
  const key = isIt
    ? object.key
    : `${namespace === "" ? "" : `${namespace}/`}${name === "" ? (generated === undefined ? "" : `${generated}…`) : name}`;
  return `${verb} ${kind}${key === "" ? "" : ` ${key.replace(/\/$/, "")}`}`;
}

function answerText({ code, injected, tookEffect, verb }: AnsweredRequest): string {
  const answer = code === 0 ? "no answer" : String(code);
  if (!injected || (code !== 0 && code < 400)) return answer;
  if (!isWrite({ verb })) return `${answer} (a fault)`;
  return tookEffect ? `${answer} (a fault: it was done, and the answer lost)` : `${answer} (a fault: nothing was done)`;
}

function changeText({ type, object }: StoredChange, { name }: SeenObject, who: string | undefined): string {
  const by = who === undefined ? "" : ` by ${who}`;
  const stored = `stored as version ${object.metadata.resourceVersion}`;
  if (type === "ADDED") return `${name} is created${by}, ${stored}`;
  if (type === "DELETED") return `${name} is gone from the store${by === "" ? "" : `, removed${by}`}`;
  return `${name} is changed${by}, ${stored}`;
}

function changeDetails({ type, object, previous }: StoredChange): string | undefined {
  if (type !== "MODIFIED" || previous === undefined) return undefined;
  const changes = changesBetween(fieldsOf(previous), fieldsOf(object));
  return changes.length === 0 ? undefined : changes.join("; ");
}

/** Decisions are told when their sync is over. They come before what the sync has written: when its first write was sent. */
function withDecisionsFirst(steps: readonly ToldStep[], decisions: Map<ToldStep, ToldStep>): ToldStep[] {
  return steps
    .map((step, index) =>
      step.kind === "decision" ? whenMade(step, { index, steps, decisions }) : { step, place: index },
    )
    .sort((a, b) => a.place - b.place)
    .map(({ step }) => step);
}

function whenMade(
  step: ToldStep,
  {
    index,
    steps,
    decisions,
  }: {
    readonly index: number;
    readonly steps: readonly ToldStep[];
    readonly decisions: Map<ToldStep, ToldStep>;
  },
): { readonly step: ToldStep; readonly place: number } {
  const { actor, life, object } = step;
  const writes: number[] = [];
  for (let earlier = index - 1; object !== undefined && earlier >= 0 && index - earlier < LONGEST_SYNC; earlier--) {
    const other = steps[earlier]!;
    if (other.actor !== actor || other.life !== life) continue;
    if (other.object !== object && other.object?.owners.includes(object.uid) !== true) continue;
    if (other.kind === "decision") break;
    if (isWrite(other.request)) writes.push(earlier);
  }
  const first = writes.at(-1);
  const atMs = first === undefined ? undefined : steps[first]!.request!.sentMs;
  if (first === undefined || atMs === undefined) return { step, place: index };
  let place = first;
  while (place > 0 && steps[place - 1]!.atMs > atMs) place--;
  const made = { ...step, atMs };
  for (const write of writes) decisions.set(steps[write]!, made);
  return { step: made, place: place - 0.5 };
}

export function isWrite(request: Pick<RequestInfo, "verb"> | undefined): boolean {
  return request !== undefined && WRITES.has(request.verb);
}

/** Whether it is only about what is written all the time. */
export function isAside({ object, request, kind }: ToldStep): boolean {
  if (kind === "answer" && request !== undefined) return isBackground(request.resource);
  return object !== undefined && isBackground(object.resource);
}
