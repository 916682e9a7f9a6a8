import type { SimulatedClock } from "@kubewright/clock";
import type { Decision, FaultyCluster, Sender } from "@kubewright/cluster";

import type { FaultPlan } from "./fault-plan.js";
import type { Invariant, InvariantChecks, Violation } from "./invariant.js";
import { Assignments } from "./invariants/assignments.js";
import { PODS } from "./invariants/stored-objects.js";
import type { Outcome } from "./outcome.js";
import { reachedBy, reachedByAnswer } from "./reached.js";
import { durationOf } from "./scenario/scenario-times.js";
import { type MirroredChange, StoreMirror } from "./store-mirror.js";
import { ToldRequests } from "./told-requests.js";
import { TraceHash } from "./trace-hash.js";
import { WatchedCaches } from "./watched-caches.js";
import type {
  AnsweredRequest,
  CacheEvent,
  Follower,
  Stored,
  StoredChange,
  ThrownError,
  ToldDecision,
  ToldHappening,
  World,
} from "./world.js";

/** Something that happened, for whoever follows a run. */
export type ToldRecord =
  | { readonly type: "change"; readonly change: StoredChange }
  | { readonly type: "answer"; readonly request: AnsweredRequest }
  | { readonly type: "decision"; readonly decision: ToldDecision }
  | { readonly type: "cache"; readonly event: CacheEvent }
  | { readonly type: "happening"; readonly happening: ToldHappening }
  /** What a happening is, in words, or why it could not be done. */
  | { readonly type: "note"; readonly atMs: number; readonly message: string }
  | { readonly type: "error"; readonly error: ThrownError }
  | { readonly type: "violation"; readonly violation: Violation };

export interface ObserverOptions {
  readonly plan: FaultPlan;
  readonly clock: SimulatedClock;
  readonly healedMs: number;
  readonly invariants: readonly Invariant[];
  readonly onTold?: ((record: ToldRecord) => void) | undefined;
}

type Check<Told> = (told: Told) => void;

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Follows a run: tells invariants what happens, when it happens, and keeps what becomes of it. */
export class Observer {
  readonly caches: WatchedCaches;
  readonly violations: Violation[] = [];
  readonly #options: ObserverOptions;
  readonly #startMs: number;
  readonly #hash = new TraceHash();
  readonly #reached = new Set<string>();
  readonly #violated = new Set<string>();
  readonly #requests = new ToldRequests();
  readonly #figures = { requests: 0, writes: 0 };
  readonly #assignments = new Assignments();
  readonly #onChange: readonly Check<StoredChange>[];
  readonly #onAnswer: readonly Check<AnsweredRequest>[];
  readonly #onDecision: readonly Check<ToldDecision>[];
  readonly #onCacheEvent: readonly Check<CacheEvent>[];
  readonly #onHappening: readonly Check<ToldHappening>[];
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
    const shared = new Map<unknown, Follower>();
    const world = this.#world(shared);
    const made = options.invariants.map(({ name, watch }) =>
      watch(world, (about, message) => this.#violation(name, about, message)),
    );
    const followers: readonly InvariantChecks[] = [...shared.values(), ...made];
    const those = <Told>(pick: (checks: InvariantChecks) => Check<Told> | undefined): Check<Told>[] =>
      followers.flatMap((checks) => pick(checks)?.bind(checks) ?? []);
    this.#onChange = those(({ onChange }) => onChange);
    this.#onAnswer = those(({ onAnswer }) => onAnswer);
    this.#onDecision = those(({ onDecision }) => onDecision);
    this.#onCacheEvent = those(({ onCacheEvent }) => onCacheEvent);
    this.#onHappening = those(({ onHappening }) => onHappening);
    this.#onError = those(({ onError }) => onError);
    this.#onTick = those(({ onTick }) => onTick);
    this.#atRest = those(({ atRest }) => atRest);
  }

  /** Follows a cluster from now on. */
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

  get reached(): readonly string[] {
    return [...this.#reached];
  }

  /** Of all that was told so far. */
  get hash(): string {
    return this.#hash.text;
  }

  get figures(): Outcome["figures"] {
    const { handOvers } = this.#assignments;
    return {
      ...this.#figures,
      virtualMs: this.#options.clock.monotonic(),
      ...(this.#options.plan.controllers?.sharding === true ? { handOvers } : {}),
    };
  }

  decision(decision: Decision, { process, incarnation }: Sender): void {
    if (this.#closed) return;
    const told = { ...decision, process, incarnation, atMs: this.#options.clock.now() };
    const reached = reachedBy(told);
    for (const each of reached) this.#reached.add(each);
    this.#hash.add("decision", told.atMs, process, incarnation, subjectOf(told), ...reached);
    this.#tell(this.#onDecision, told, { type: "decision", decision: told });
  }

  happening(happening: Omit<ToldHappening, "atMs">): void {
    if (this.#closed) return;
    const told = { ...happening, atMs: this.#options.clock.now() };
    this.#hash.add("happening", told.atMs, told.index, told.phase);
    this.#tell(this.#onHappening, told, { type: "happening", happening: told });
  }

  note(message: string): void {
    if (!this.#closed) this.#tell([], undefined, { type: "note", atMs: this.#options.clock.now(), message });
  }

  /** Tells of errors that are bugs. */
  thrown(error: unknown, component: string): void {
    for (const cause of causesOf(error)) {
      if (this.#closed || !isBug(cause)) continue;
      const told: ThrownError = { atMs: this.#options.clock.now(), component, error: cause };
      this.#hash.add("error", told.atMs, component, String(cause));
      this.#tell(this.#onError, told, { type: "error", error: told });
    }
  }

  /** Tells that a component has ended by itself. */
  failed(error: unknown): void {
    this.thrown(error, "cluster");
  }

  /** What a check, or who is told, has thrown: it is told nothing more. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  tick(): void {
    this.#tell(this.#onTick, undefined);
  }

  rest(): void {
    this.#tell(this.#atRest, undefined);
    for (const resource of this.mirror.resources)
      for (const object of this.mirror.list(resource)) this.#hash.add(JSON.stringify(object));
  }

  /** Tells nothing more. */
  close(): void {
    this.#closed = true;
  }

  /** What is thrown is a matter of whoever plays, and not of what of the cluster happens to tell. */
  #tell<Told>(checks: readonly Check<Told>[], told: Told, record?: ToldRecord): void {
    if (this.#failure !== undefined) return;
    try {
      for (const check of checks) check(told);
      if (record !== undefined) this.#options.onTold?.(record);
    } catch (error) {
      this.#failure = { error };
    }
  }

  #change(change: MirroredChange): void {
    if (this.#closed) return;
    const serving = this.#cluster?.network.serving;
    const request = serving === undefined ? undefined : this.#requests.infoOf(serving);
    const atMs = this.#options.clock.now();
    const told: StoredChange = { ...change, atMs, ...(request === undefined ? {} : { request }) };
    this.#assignments.onChange(told);
    this.#hash.add(change.type, atMs, change.resource, request?.component, ...contentOf(change));
    this.#tell(this.#onChange, told, { type: "change", change: told });
  }

  #answer(request: AnsweredRequest): void {
    if (this.#closed) return;
    const { atMs, component, process, incarnation, verb, resource, subresource, namespace, name, code } = request;
    this.#figures.requests++;
    if (WRITES.has(verb)) this.#figures.writes++;
    const reached = reachedByAnswer(request);
    if (reached !== undefined) this.#reached.add(reached);
    this.#hash.add("answer", atMs, process, component, incarnation);
    this.#hash.add(verb, resource, subresource, namespace, name, code);
    this.#tell(this.#onAnswer, request, { type: "answer", request });
  }

  #cacheEvent(event: CacheEvent): void {
    if (this.#closed) return;
    const { type, atMs, cache, object } = event;
    this.#hash.add(type, atMs, cache, object.metadata.resourceVersion);
    this.#tell(this.#onCacheEvent, event, { type: "cache", event });
  }

  #violation(invariant: string, about: string, message: string): void {
    const key = `${invariant} ${about}`;
    if (this.#closed || this.#violated.has(key)) return;
    this.#violated.add(key);
    const violation = { invariant, about, message, atMs: this.#options.clock.now() };
    this.violations.push(violation);
    this.#hash.add("violation", violation.atMs, key);
    this.#options.onTold?.({ type: "violation", violation });
  }

  #world(shared: Map<unknown, Follower>): World {
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
      shared<T extends object>(make: (of: World) => T & Follower): T {
        if (!shared.has(make)) shared.set(make, make(world));
        return shared.get(make) as T;
      },
    };
    return world;
  }
}

/** What tells one version of an object from another that came about differently. All there is of each is added at rest. */
function contentOf({ object, previous, resource }: MirroredChange): readonly (string | undefined)[] {
  const { uid, resourceVersion, deletionTimestamp, finalizers, name } = object.metadata;
  const status = statusOf(object);
  const isNew = status !== undefined && status !== statusOf(previous);
  // There are far more of pods than of all others.
  const told = !isNew ? "" : resource === PODS ? status.phase : JSON.stringify(status);
  return [name, uid, resourceVersion, deletionTimestamp, finalizers?.join(), told];
}

function statusOf(object: Stored | undefined): { readonly phase?: string } | undefined {
  return (object as { readonly status?: { readonly phase?: string } } | undefined)?.status;
}

/** What a decision is about. */
function subjectOf(told: ToldDecision): string {
  const { decision } = told;
  if ("key" in decision) return decision.key;
  return "object" in decision ? decision.object.name : `${decision.namespace}/${decision.name}`;
}

/** An error, or what it stands for. */
function causesOf(error: unknown): unknown[] {
  if (error instanceof AggregateError) return error.errors.flatMap(causesOf);
  if (error instanceof Error && error.cause instanceof Error) return causesOf(error.cause);
  return [error];
}

/**
 * What the language throws where a program is wrong. Controllers throw other errors to be called again: they wait for a cache, or
 * were refused something.
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
