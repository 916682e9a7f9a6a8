import type { KubernetesObject } from "@kubewright/api";
import type { ShardStatus } from "@kubewright/sharding";

import type { FaultPlan } from "../src/fault-plan.js";
import type { ScenarioEventKind } from "../src/faults/registry.js";
import type { Invariant, InvariantChecks } from "../src/invariant.js";
import type {
  AnsweredRequest,
  CacheEvent,
  RunListener,
  ObservedRequest,
  Stored,
  StoredChange,
  ReportedDecision,
  World,
} from "../src/world.js";

export const START_MS = Date.UTC(2026, 2, 2, 10);

const PLURALS: Readonly<Record<string, string>> = {
  Job: "jobs.batch",
  CronJob: "cronjobs.batch",
  Pod: "pods",
  Node: "nodes",
  ConfigMap: "configmaps",
  Lease: "leases.coordination.k8s.io",
};

type Sender = string | Partial<ObservedRequest>;

/** An artificial history: the test determines the stored objects, and the invariants are notified. */
export class History implements World {
  readonly plan: FaultPlan;
  nowMs = START_MS;
  healedMs = START_MS;
  stale: { component: string; resource: string; difference: string }[] = [];
  leading: string[] = [];
  shardStatuses: Record<string, ShardStatus> = {};
  /** Violations as `Job default/pi: message`. */
  readonly violations: string[] = [];
  readonly #caches = new Map<string, number>();
  readonly #stored = new Map<string, Stored>();
  readonly #shared = new Map<unknown, RunListener>();
  readonly #checks: readonly InvariantChecks[];
  #version = 0;

  constructor(invariants: Invariant | readonly Invariant[], plan: Partial<FaultPlan> = {}) {
    this.plan = {
      apiVersion: "sim.kubewright.dev/v1",
      kind: "Scenario",
      seed: 1,
      start: new Date(START_MS).toISOString(),
      for: "1h",
      manifests: [],
      ...plan,
    };
    const checks = [invariants]
      .flat()
      .map(({ watch }) => watch(this, (subject, message) => this.violations.push(`${subject}: ${message}`)));
    this.#checks = [...this.#shared.values(), ...checks];
  }

  get<T extends KubernetesObject>(resource: string, namespace: string, name: string): Stored<T> | undefined {
    return this.#stored.get(`${resource} ${namespace}/${name}`) as Stored<T> | undefined;
  }

  list<T extends KubernetesObject>(resource: string): readonly Stored<T>[] {
    return [...this.#stored].filter(([key]) => key.startsWith(`${resource} `)).map(([, object]) => object as Stored<T>);
  }

  staleCaches(): typeof this.stale {
    return this.stale;
  }

  leaders(): readonly string[] {
    return this.leading;
  }

  shards(): typeof this.shardStatuses {
    return this.shardStatuses;
  }

  shared<T extends object>(make: (world: World) => T & RunListener): T {
    if (!this.#shared.has(make)) this.#shared.set(make, make(this));
    return this.#shared.get(make) as T;
  }

  /** Stores an object: adds it, or changes the stored one. */
  store<T extends KubernetesObject>(object: T, by: Sender = "user"): T {
    const key = this.#key(object);
    const previous = this.#stored.get(key);
    const now = {
      ...object,
      metadata: {
        ...(object.kind === "Node" ? {} : { namespace: "default" }),
        uid: `uid-of-${object.metadata.name}`,
        creationTimestamp: new Date(this.nowMs).toISOString(),
        generation: 1,
        ...object.metadata,
        resourceVersion: `${++this.#version + 100}`,
      },
    };
    this.#stored.set(key, now);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    this.#notify(type, now, previous, by, previous === undefined ? "create" : "update");
    return now;
  }

  remove(object: KubernetesObject, by: Sender = "user"): void {
    const key = this.#key(object);
    const previous = this.#stored.get(key);
    if (previous === undefined) throw new Error(`${key} is not stored`);
    this.#stored.delete(key);
    this.#notify("DELETED", previous, previous, by, "delete");
  }

  /** Reports a cache event of an object. */
  show(object: KubernetesObject | Stored, to: Partial<CacheEvent> & { readonly component: string }): void {
    const event = {
      atMs: this.nowMs,
      process: "controller-manager-1",
      incarnation: 1,
      resource: PLURALS[object.kind ?? ""]!,
      type: "add" as const,
      object: object,
      ...to,
    };
    const { component, process, incarnation, resource } = event;
    const cache = this.#caches.get(`${component} ${process} ${incarnation} ${resource}`) ?? this.#caches.size;
    this.#caches.set(`${component} ${process} ${incarnation} ${resource}`, cache);
    for (const check of this.#checks) check.onCacheEvent?.({ ...event, cache });
  }

  answer(request: Partial<AnsweredRequest> & { readonly component: string; readonly code: number }): void {
    const answered: AnsweredRequest = {
      ...this.#request(request, "update"),
      atMs: this.nowMs,
      injected: false,
      tookEffect: request.code >= 200 && request.code < 300,
      ...request,
    };
    for (const check of this.#checks) check.onAnswer?.(answered);
  }

  decide(decision: Pick<ReportedDecision, "controller" | "decision">): void {
    const reported = {
      process: "controller-manager-1",
      incarnation: 1,
      atMs: this.nowMs,
      ...decision,
    } as ReportedDecision;
    for (const check of this.#checks) check.onDecision?.(reported);
  }

  fail(error: unknown, component = "job-controller"): void {
    for (const check of this.#checks) check.onError?.({ atMs: this.nowMs, component, error });
  }

  happen(index: number, kind: ScenarioEventKind, phase: "begin" | "end"): void {
    for (const check of this.#checks) check.onScenarioEvent?.({ atMs: this.nowMs, kind, phase, index });
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const check of this.#checks) check.onTick?.();
  }

  rest(): void {
    for (const check of this.#checks) check.atRest?.();
  }

  #key({ kind, metadata: { namespace = "default", name } }: KubernetesObject): string {
    return `${PLURALS[kind ?? ""]} ${kind === "Node" ? "" : namespace}/${name}`;
  }

  #notify(type: StoredChange["type"], object: Stored, previous: Stored | undefined, by: Sender, verb: string): void {
    const change: StoredChange = {
      atMs: this.nowMs,
      resource: PLURALS[object.kind ?? ""]!,
      type,
      object,
      ...(previous === undefined ? {} : { previous }),
      request: this.#request(typeof by === "string" ? { component: by } : by, verb, object),
    };
    for (const check of this.#checks) check.onChange?.(change);
  }

  #request(given: Partial<ObservedRequest>, verb: string, object?: Stored): ObservedRequest {
    return {
      component: "user",
      process: given.component?.includes("controller") === true ? "controller-manager-1" : "",
      incarnation: 1,
      sentMs: this.nowMs,
      verb,
      resource: PLURALS[object?.kind ?? ""] ?? "",
      subresource: "",
      namespace: object?.metadata.namespace ?? "default",
      name: verb === "create" ? "" : (object?.metadata.name ?? ""),
      ...(verb === "create" ? { body: object } : {}),
      ...given,
    };
  }
}
