import type {
  AnsweredRequest,
  ObservedRequest,
  Stored,
  StoredChange,
  ReportedScenarioEvent,
  RunRecord,
  InvariantViolation,
} from "@kubewright/simulation";
import {
  type Actor,
  changesBetween,
  type Look,
  type StepKind,
  invariantViolationText,
} from "@kubewright/timeline/data";

import { describeDecision } from "./decision-text.js";
import { fieldsOf } from "./object-fields.js";
import { targetsSingleRequests } from "./plan-sentences.js";
import type { PlanRecording } from "./record-plan.js";
import { type RunObject, RunObjects, isBackground } from "./run-objects.js";

/** A step before the selection of the shown steps: its texts are computed on demand. */
export interface TraceStep {
  readonly atMs: number;
  readonly kind: StepKind;
  readonly look: Look;
  readonly actor?: string;
  readonly life?: number;
  readonly object?: RunObject;
  /** The version that is stored or cached after the step; absent: none. */
  readonly version?: Stored;
  readonly text: () => string;
  readonly more?: () => string | undefined;
  readonly change?: StoredChange;
  readonly request?: ObservedRequest;
  readonly violation?: InvariantViolation;
  /** The scenario event, and whether it begins or ends. */
  readonly scenarioEvent?: Pick<ReportedScenarioEvent, "index" | "kind" | "phase">;
}

/** A run as steps, in an order that readers can follow. */
export interface RunTrace {
  readonly steps: readonly TraceStep[];
  readonly objects: RunObjects;
  /** Actors with caches, decisions or writes, by display name. */
  readonly actors: ReadonlyMap<string, KnownActor>;
  /** The decision that caused each write and its change. */
  readonly decisions: ReadonlyMap<TraceStep, TraceStep>;
}

export type KnownActor = Pick<Actor, "component" | "process">;

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);
const READS: ReadonlySet<string> = new Set(["get", "list"]);
/** Maximum length of a sync, in records. */
const LONGEST_SYNC = 2_000;

export function buildRunTrace({ plan, records, violations }: PlanRecording): RunTrace {
  const objects = new RunObjects();
  const actors = new Map<string, KnownActor>();
  const processes = new Set(records.flatMap((record) => processOf(record) || []));
  const actorOf = ({ component, process }: KnownActor): string => {
    // With a single controller manager, its name is omitted.
    const isOnly = process === "" || processes.size < 2 || component.endsWith(process);
    const name = isOnly ? component : `${component} of ${process}`;
    if (!actors.has(name)) actors.set(name, { component, process });
    return name;
  };
  const created = new WeakMap<object, RunObject>();
  const steps: TraceStep[] = [];
  /** Violations that were reported before the step at which they occurred. */
  let pendingViolations: TraceStep[] = [];
  const reported = new Set<string>();
  const actorsWithCaches = new Set<string>();
  const scenarioEvents = new Map<number, string>();
  let wasSingleRequestFault = false;
  for (const record of records) {
    const latest = steps.at(-1);
    if (record.type === "note" && wasSingleRequestFault) continue;
    wasSingleRequestFault = record.type === "scenarioEvent" && targetsSingleRequests(plan, record.scenarioEvent.index);
    if (wasSingleRequestFault) continue;
    if (
      record.type === "note" &&
      latest?.scenarioEvent?.phase === "begin" &&
      !scenarioEvents.has(latest.scenarioEvent.index)
    ) {
      // The note with the text of an event follows its name.
      scenarioEvents.set(latest.scenarioEvent.index, record.message);
      steps[steps.length - 1] = { ...latest, text: () => record.message };
      continue;
    }
    if (record.type === "violation") {
      reported.add(keyOf(record.violation));
      pendingViolations.push(violationStep(record.violation));
      continue;
    }
    const step = stepOf(record, { objects, actorOf, created, actorsWithCaches, scenarioEvents });
    if (step === undefined) continue;
    // A violation between two steps of different times was found while time advanced.
    if (pendingViolations.length > 0 && pendingViolations[0]!.atMs !== step.atMs) {
      steps.push(...pendingViolations);
      pendingViolations = [];
    }
    steps.push(step, ...pendingViolations);
    pendingViolations = [];
  }
  const endMs = Math.max(0, steps.at(-1)?.atMs ?? 0, ...violations.map(({ atMs }) => atMs));
  const others = violations.filter((violation) => !reported.has(keyOf(violation)));
  steps.push(...pendingViolations, ...others.map((violation) => ({ ...violationStep(violation), atMs: endMs })));
  const decisions = new Map<TraceStep, TraceStep>();
  return { steps: withDecisionsFirst(steps, decisions), objects, actors, decisions };
}

/** Returns the controller manager process of a record; empty for a custom controller, which is its own process. */
function processOf(record: RunRecord): string {
  if (record.type === "decision") return record.decision.process;
  if (record.type !== "cache") return "";
  const { process, component } = record.event;
  return process === component ? "" : process;
}

interface Sources {
  readonly objects: RunObjects;
  readonly actorOf: (actor: KnownActor) => string;
  /** Created objects, by the body of the create request. */
  readonly created: WeakMap<object, RunObject>;
  /** Actors with caches. */
  readonly actorsWithCaches: Set<string>;
  /** Texts of the scenario events, by index in the plan. */
  readonly scenarioEvents: ReadonlyMap<number, string>;
}

function stepOf(
  record: Exclude<RunRecord, { readonly type: "violation" }>,
  { objects, actorOf, created, actorsWithCaches, scenarioEvents }: Sources,
): TraceStep | undefined {
  switch (record.type) {
    case "change": {
      const { change } = record;
      const { atMs, type, resource, object, request } = change;
      const runObject = objects.add(resource, object);
      if (type === "ADDED" && typeof request?.body === "object" && request.body !== null)
        created.set(request.body, runObject);
      const who = request === undefined ? undefined : actorOf(request);
      return {
        atMs,
        kind: "change",
        look: type === "ADDED" ? "added" : type === "DELETED" ? "deleted" : "modified",
        object: runObject,
        change,
        text: () => changeText(change, runObject, who),
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
      actorsWithCaches.add(actor);
      const runObject = objects.add(resource, object);
      const what = type === "delete" ? "is gone" : `is at version ${resourceVersion}`;
      return {
        atMs,
        kind: "cache",
        look: type === "add" ? "added" : type === "delete" ? "deleted" : "modified",
        actor,
        life: incarnation,
        object: runObject,
        text: () => `${actor} hears that ${runObject.name} ${what}`,
        ...(type === "delete" ? {} : { version: object }),
      };
    }
    case "decision": {
      const { decision } = record;
      const { text, hasEffect, subject, error } = describeDecision(decision);
      const actor = actorOf({ component: decision.controller, process: decision.process });
      const object = "uid" in subject ? objects.withUid(subject.uid) : objects.named(subject.resource, subject.key);
      return {
        atMs: decision.atMs,
        kind: "decision",
        look: hasEffect ? "acts" : "rests",
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
      if (!isWrite(request) && !(READS.has(request.verb) && actorsWithCaches.has(actor))) return undefined;
      const object = objectOf(request, objects, created);
      return {
        atMs: request.atMs,
        kind: "answer",
        look: lookOf(request),
        actor,
        life: request.incarnation,
        request,
        text: () => `${actor}: ${requestText(request, object)} → ${answerText(request)}`,
        // The answer already describes the fault.
        more: () => (request.injected ? undefined : request.message),
        ...(object === undefined ? {} : { object }),
      };
    }
    case "scenarioEvent": {
      const { atMs, kind, phase, index } = record.scenarioEvent;
      const text = (): string => (phase === "begin" ? kind : `over: ${scenarioEvents.get(index) ?? kind}`);
      return { atMs, kind: "scenarioEvent", look: "plain", text, scenarioEvent: { index, kind, phase } };
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

function violationStep(violation: InvariantViolation): TraceStep {
  const { atMs, invariant } = violation;
  const text = (): string => `${invariant} does not hold: ${invariantViolationText(violation)}`;
  return { atMs, kind: "violation", look: "wrong", text, violation };
}

function keyOf({ invariant, subject }: InvariantViolation): string {
  return JSON.stringify([invariant, subject]);
}

/** Returns the object of a request; for a failed creation, the owner of the object. */
function objectOf(
  { body, resource, namespace, name }: AnsweredRequest,
  objects: RunObjects,
  created: WeakMap<object, RunObject>,
): RunObject | undefined {
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
  { verb, resource, subresource, namespace, name, body }: ObservedRequest,
  object: RunObject | undefined,
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

function changeText({ type, object }: StoredChange, { name }: RunObject, who: string | undefined): string {
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

/**
 * Moves each decision before the writes of its sync. A decision is recorded at the end of its sync; it belongs to the
 * time when the first write was sent.
 */
function withDecisionsFirst(steps: readonly TraceStep[], decisions: Map<TraceStep, TraceStep>): TraceStep[] {
  return steps
    .map((step, index) =>
      step.kind === "decision" ? placeDecision(step, { index, steps, decisions }) : { step, place: index },
    )
    .sort((a, b) => a.place - b.place)
    .map(({ step }) => step);
}

function placeDecision(
  step: TraceStep,
  {
    index,
    steps,
    decisions,
  }: {
    readonly index: number;
    readonly steps: readonly TraceStep[];
    readonly decisions: Map<TraceStep, TraceStep>;
  },
): { readonly step: TraceStep; readonly place: number } {
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

export function isWrite(request: Pick<ObservedRequest, "verb"> | undefined): boolean {
  return request !== undefined && WRITES.has(request.verb);
}

/** Whether the step concerns only background resources. */
export function isBackgroundStep({ object, request, kind }: TraceStep): boolean {
  if (kind === "answer" && request !== undefined) return isBackground(request.resource);
  return object !== undefined && isBackground(object.resource);
}
