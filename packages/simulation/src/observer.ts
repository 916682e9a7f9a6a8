import type { SimulatedClock } from "@kubewright/clock";
import type { Decision, FaultyCluster, Sender } from "@kubewright/cluster";

import type { FaultPlan } from "./fault-plan.js";
import type { Invariant, InvariantChecks, InvariantViolation } from "./invariant.js";
import { Assignments } from "./invariants/assignments.js";
import { PODS } from "./invariants/stored-objects.js";
import type { Outcome } from "./outcome.js";
import { coverageOf, coverageOfAnswer } from "./coverage.js";
import { durationOf } from "./scenario/scenario-times.js";
import { type MirroredChange, StoreMirror } from "./store-mirror.js";
import { ReportedRequests } from "./reported-requests.js";
import { TraceHash } from "./trace-hash.js";
import { WatchedCaches } from "./watched-caches.js";
import type {
  AnsweredRequest,
  CacheEvent,
  RunListener,
  Stored,
  StoredChange,
  ThrownError,
  ReportedDecision,
  ReportedScenarioEvent,
  World,
} from "./world.js";

/** A record of a run, for listeners. */
export type RunRecord =
  | { readonly type: "change"; readonly change: StoredChange }
  | { readonly type: "answer"; readonly request: AnsweredRequest }
  | { readonly type: "decision"; readonly decision: ReportedDecision }
  | { readonly type: "cache"; readonly event: CacheEvent }
  | { readonly type: "scenarioEvent"; readonly scenarioEvent: ReportedScenarioEvent }
  /** Description of a scenario event, or why it failed. */
  | { readonly type: "note"; readonly atMs: number; readonly message: string }
  | { readonly type: "error"; readonly error: ThrownError }
  | { readonly type: "violation"; readonly violation: InvariantViolation };

export interface ObserverOptions {
  readonly plan: FaultPlan;
  readonly clock: SimulatedClock;
  readonly healedMs: number;
  readonly invariants: readonly Invariant[];
  readonly onRecord?: ((record: RunRecord) => void) | undefined;
}

type Check<Reported> = (reported: Reported) => void;

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Observes a run: reports every record to the invariants synchronously, and collects the outcome. */
export class Observer {
  readonly caches: WatchedCaches;
  readonly violations: InvariantViolation[] = [];
  readonly #options: ObserverOptions;
  readonly #startMs: number;
  readonly #hash = new TraceHash();
  readonly #covered = new Set<string>();
  readonly #violated = new Set<string>();
  readonly #requests = new ReportedRequests();
  readonly #figures = { requests: 0, writes: 0 };
  readonly #assignments = new Assignments();
  readonly #onChange: readonly Check<StoredChange>[];
  readonly #onAnswer: readonly Check<AnsweredRequest>[];
  readonly #onDecision: readonly Check<ReportedDecision>[];
  readonly #onCacheEvent: readonly Check<CacheEvent>[];
  readonly #onScenarioEvent: readonly Check<ReportedScenarioEvent>[];
  readonly #onError: readonly Check<ThrownError>[];
  readonly #onTick: readonly Check<void>[];
  readonly #atRest: readonly Check<void>[];
  #mirror: StoreMirror | undefined;
  #cluster: FaultyCluster | undefined;
  #closed = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#startMs = options.clock.now();
    this.caches = new WatchedCaches(options.clock, (event) => this.#cacheEvent(event));
    const shared = new Map<unknown, RunListener>();
    const world = this.#world(shared);
    const made = options.invariants.map(({ name, watch }) =>
      watch(world, (subject, message) => this.#violation(name, subject, message)),
    );
    const listeners: readonly InvariantChecks[] = [...shared.values(), ...made];
    const those = <Reported>(pick: (checks: InvariantChecks) => Check<Reported> | undefined): Check<Reported>[] =>
      listeners.flatMap((checks) => pick(checks)?.bind(checks) ?? []);
    this.#onChange = those(({ onChange }) => onChange);
    this.#onAnswer = those(({ onAnswer }) => onAnswer);
    this.#onDecision = those(({ onDecision }) => onDecision);
    this.#onCacheEvent = those(({ onCacheEvent }) => onCacheEvent);
    this.#onScenarioEvent = those(({ onScenarioEvent }) => onScenarioEvent);
    this.#onError = those(({ onError }) => onError);
    this.#onTick = those(({ onTick }) => onTick);
    this.#atRest = those(({ atRest }) => atRest);
  }

  /** Starts to observe a cluster. */
  observe(cluster: FaultyCluster): void {
    const { clock } = this.#options;
    this.#cluster = cluster;
    cluster.network.observe((answered) => {
      const request = this.#requests.answerOf(answered, clock.now());
      if (request !== undefined) this.#answer(request);
    });
    this.#mirror = new StoreMirror(cluster.apiServer, { clock, onChange: (change) => this.#change(change) });
  }

  get mirror(): StoreMirror {
    if (this.#mirror === undefined) throw new Error("the observer looks at no cluster yet");
    return this.#mirror;
  }

  get covered(): readonly string[] {
    return [...this.#covered];
  }

  /** Hash of all records so far. */
  get hash(): string {
    return this.#hash.text;
  }

  get figures(): Outcome["figures"] {
    const { handovers } = this.#assignments;
    return {
      ...this.#figures,
      virtualMs: this.#options.clock.monotonic(),
      ...(this.#options.plan.controllers?.sharding === true ? { handovers } : {}),
    };
  }

  decision(decision: Decision, { process, incarnation }: Sender): void {
    if (this.#closed) return;
    const reported = { ...decision, process, incarnation, atMs: this.#options.clock.now() };
    const covered = coverageOf(reported);
    for (const each of covered) this.#covered.add(each);
    this.#hash.add("decision", reported.atMs, process, incarnation, subjectOf(reported), ...covered);
    this.#notify(this.#onDecision, reported, { type: "decision", decision: reported });
  }

  scenarioEvent(scenarioEvent: Omit<ReportedScenarioEvent, "atMs">): void {
    if (this.#closed) return;
    const reported = { ...scenarioEvent, atMs: this.#options.clock.now() };
    this.#hash.add("scenarioEvent", reported.atMs, reported.index, reported.phase);
    this.#notify(this.#onScenarioEvent, reported, { type: "scenarioEvent", scenarioEvent: reported });
  }

  note(message: string): void {
    if (!this.#closed) this.#notify([], undefined, { type: "note", atMs: this.#options.clock.now(), message });
  }

  /** Reports errors that are bugs. */
  thrown(error: unknown, component: string): void {
    for (const cause of causesOf(error)) {
      if (this.#closed || !isBug(cause)) continue;
      const reported: ThrownError = { atMs: this.#options.clock.now(), component, error: cause };
      this.#hash.add("error", reported.atMs, component, String(cause));
      this.#notify(this.#onError, reported, { type: "error", error: reported });
    }
  }

  /** Reports that the cluster has ended with an error. */
  failed(error: unknown): void {
    this.thrown(error, "cluster");
  }

  /** Error that a check or listener has thrown; after it nothing more is reported. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  tick(): void {
    this.#notify(this.#onTick, undefined);
  }

  rest(): void {
    this.#notify(this.#atRest, undefined);
    for (const resource of this.mirror.resources)
      for (const object of this.mirror.list(resource)) this.#hash.add(JSON.stringify(object));
  }

  /** Stops all reports. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Stores errors of checks and listeners for the caller of the run; they must not reach the component that caused the
   * record.
   */
  #notify<Reported>(checks: readonly Check<Reported>[], reported: Reported, record?: RunRecord): void {
    if (this.#failure !== undefined) return;
    try {
      for (const check of checks) check(reported);
      if (record !== undefined) this.#options.onRecord?.(record);
    } catch (error) {
      this.#failure = { error };
    }
  }

  #change(change: MirroredChange): void {
    if (this.#closed) return;
    const serving = this.#cluster?.network.serving;
    const request = serving === undefined ? undefined : this.#requests.infoOf(serving);
    const atMs = this.#options.clock.now();
    const reported: StoredChange = { ...change, atMs, ...(request === undefined ? {} : { request }) };
    this.#assignments.onChange(reported);
    this.#hash.add(change.type, atMs, change.resource, request?.component, ...contentOf(change));
    this.#notify(this.#onChange, reported, { type: "change", change: reported });
  }

  #answer(request: AnsweredRequest): void {
    if (this.#closed) return;
    const { atMs, component, process, incarnation, verb, resource, subresource, namespace, name, code } = request;
    this.#figures.requests++;
    if (WRITES.has(verb)) this.#figures.writes++;
    const covered = coverageOfAnswer(request);
    if (covered !== undefined) this.#covered.add(covered);
    this.#hash.add("answer", atMs, process, component, incarnation);
    this.#hash.add(verb, resource, subresource, namespace, name, code);
    this.#notify(this.#onAnswer, request, { type: "answer", request });
  }

  #cacheEvent(event: CacheEvent): void {
    if (this.#closed) return;
    const { type, atMs, cache, object } = event;
    this.#hash.add(type, atMs, cache, object.metadata.resourceVersion);
    this.#notify(this.#onCacheEvent, event, { type: "cache", event });
  }

  #violation(invariant: string, subject: string, message: string): void {
    const key = `${invariant} ${subject}`;
    if (this.#closed || this.#violated.has(key)) return;
    this.#violated.add(key);
    const violation = { invariant, subject, message, atMs: this.#options.clock.now() };
    this.violations.push(violation);
    this.#hash.add("violation", violation.atMs, key);
    this.#options.onRecord?.({ type: "violation", violation });
  }

  #world(shared: Map<unknown, RunListener>): World {
    const { plan, clock, healedMs } = this.#options;
    const underWayMs = durationOf(plan.jitter?.events ?? "0s");
    const world: World = {
      plan,
      healedMs: Math.max(healedMs, this.#startMs),
      get nowMs() {
        return clock.now();
      },
      get: <T extends Stored>(resource: string, namespace: string, name: string) =>
        this.#mirror?.get(resource, namespace, name) as T | undefined,
      list: <T extends Stored>(resource: string) => (this.#mirror?.list(resource) ?? []) as readonly T[],
      staleCaches: (forMs = 0) =>
        this.caches.differences(this.mirror, {
          runs: (sender) => this.#cluster?.runs(sender) ?? false,
          beforeMs: clock.now() - Math.max(underWayMs, forMs),
        }),
      leaders: () => this.#cluster?.leaders() ?? [],
      shards: () => this.#cluster?.shards() ?? {},
      shared<T extends object>(make: (of: World) => T & RunListener): T {
        if (!shared.has(make)) shared.set(make, make(world));
        return shared.get(make) as T;
      },
    };
    return world;
  }
}

/** Returns the fields that distinguish versions of an object in the hash. The complete objects are added at the end. */
function contentOf({ object, previous, resource }: MirroredChange): readonly (string | undefined)[] {
  const { uid, resourceVersion, deletionTimestamp, finalizers, name } = object.metadata;
  const status = statusOf(object);
  const isNew = status !== undefined && status !== statusOf(previous);
  // Only the phase for pods: their changes are by far the most frequent.
  const statusText = !isNew ? "" : resource === PODS ? status.phase : JSON.stringify(status);
  return [name, uid, resourceVersion, deletionTimestamp, finalizers?.join(), statusText];
}

function statusOf(object: Stored | undefined): { readonly phase?: string } | undefined {
  return (object as { readonly status?: { readonly phase?: string } } | undefined)?.status;
}

/** Returns the key of the object that a decision concerns. */
function subjectOf(reported: ReportedDecision): string {
  const { decision } = reported;
  if ("key" in decision) return decision.key;
  return "object" in decision ? decision.object.name : `${decision.namespace}/${decision.name}`;
}

/** Returns the root causes of an error. */
function causesOf(error: unknown): unknown[] {
  if (error instanceof AggregateError) return error.errors.flatMap(causesOf);
  if (error instanceof Error && error.cause instanceof Error) return causesOf(error.cause);
  return [error];
}

/**
 * Reports whether an error is one that the language throws for a programming mistake. Controllers throw other errors to
 * request a retry: they wait for a cache, or a request was refused.
 */
function isBug(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError ||
    error instanceof URIError
  );
}
