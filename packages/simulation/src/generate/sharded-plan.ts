import type { UnstructuredObject } from "@kubewright/api";
import { parseDuration, seededRandom } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import type { ScenarioEventEntry, WorkloadEntry } from "../scenario/scenario-file.js";
import { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import { FAULT_KINDS } from "./fault-kind.js";
import { generatePlan } from "./generate-plan.js";
import { endOfScenarioEvent, sortByStart } from "./event-times.js";
import { SHARDING_FAULT_KINDS, type ShardingFaultKind, drawShardingFaults } from "./sharding-faults.js";

export interface ShardedPlanOptions {
  /** Controller managers that share the work: 1 to 5. */
  readonly managers: number;
  /** What may go wrong at all. Default: everything; `[]`: nothing does. */
  readonly faults?: readonly ShardingFaultKind[] | undefined;
}

/** Leases are renewed every two seconds by each: that would be all there is in days. */
const LONGEST_MS = 30 * 60_000;
/** More than anybody has to look at to find a shorter one. */
const MAX_TRIES = 50;
/** A bucket has little to do in a short plan, and only what goes from one to another says anything. */
const SHORTEST_WINDOW_MS = 180_000;
const LONGEST_WINDOW_MS = 10 * 60_000;
/** As in plans of one manager: what anything may take to be found out once nothing goes wrong any more. */
const SLACK_MS = 540_000;

/**
 * The plan of a seed for controller managers that share work: the workload and faults of {@link generatePlan}'s plans, several of
 * them side by side in namespaces of their own, and what happens to the managers. Drawn from a source of its own: the plans of
 * `generatePlan` stay what they are.
 *
 * @param seed - 0 to 4294967295.
 */
export function generateShardedPlan(seed: number, { managers, faults }: ShardedPlanOptions): FaultPlan {
  const draw = new Draw(seededRandom(seed).fork("sharded plan"));
  const allowed = faults ?? [...FAULT_KINDS, ...SHARDING_FAULT_KINDS];
  const common = FAULT_KINDS.filter((kind) => allowed.includes(kind));
  const base = shortPlan(seed, draw.fork("base"), common);
  const parts = Array.from({ length: draw.fork("parts").integer(2, 6) }, (_, index) => {
    const fork = draw.fork(`part ${index}`);
    return withSteadyJob(
      fork.fork("steady"),
      inNamespace(`part-${index + 1}`, shortPlan(fork.integer(0, 2 ** 32 - 1), fork, [])),
    );
  });
  const plans = [base, ...parts];
  const lengthMs = Math.max(...plans.map(lengthOf));
  const windowMs = Math.min(LONGEST_WINDOW_MS, Math.max(SHORTEST_WINDOW_MS, lengthMs - 2 * SLACK_MS));
  const sharding = drawShardingFaults(draw.fork("faults"), { faults: allowed, managers, windowMs });
  const isLate = allowed.includes("controllerDown") && managers > 1 && draw.fork("late?").chance(0.4);
  const late = draw.fork("late").integer(20_000, 90_000);
  const { leaseDurations: _leases, ...controllers } = base.controllers ?? {};
  const events = sortByStart([
    ...(isLate ? [{ at: "+0s", for: durationText(late), controllerDown: `controller-manager-${managers}` }] : []),
    ...plans.flatMap((plan) => plan.events ?? []).flatMap((entry) => adaptToManagers(entry, managers)),
    ...sharding,
  ]);
  const overMs = Math.max(lengthMs - SLACK_MS, ...events.map(endOfScenarioEvent));
  return {
    ...base,
    for: durationText(overMs + SLACK_MS),
    controllerManagers: managers,
    controllers: { ...controllers, sharding: true },
    workloads: plans.flatMap(({ workloads = [] }) => workloads),
    manifests: plans.flatMap(({ manifests }) => manifests),
    events,
  };
}

/** The plan of the seed, or of one after it whose workload does not take too long. */
function shortPlan(seed: number, draw: Draw, faults: readonly (typeof FAULT_KINDS)[number][]): FaultPlan {
  let chosen = seed;
  for (let number = 0; number < MAX_TRIES; number++) {
    if (lengthOf(generatePlan(chosen, { faults: [] })) <= LONGEST_MS) break;
    chosen = draw.fork(`shorter ${number}`).integer(0, 2 ** 32 - 1);
  }
  return { ...generatePlan(chosen, { faults }), name: `seed-${seed}`, seed };
}

function lengthOf(plan: FaultPlan): number {
  return parseDuration(plan.for) ?? 0;
}

/** What a plan plays and users do, in a namespace of its own; without what is in none. */
function inNamespace(namespace: string, plan: FaultPlan): FaultPlan {
  const renamed = (name = "default"): string => (name === "default" ? namespace : `${namespace}-${name}`);
  const isClusterScoped = (kind: string | undefined): boolean => kind === "Node" || kind === "Namespace";
  const moved = (object: UnstructuredObject): UnstructuredObject => {
    const { ownerReferences: owners } = object.metadata;
    const ownerReferences = owners?.map((owner) => ({
      ...owner,
      uid: owner.uid.replace(DEFAULT_NAMESPACE_PLACEHOLDER, `$1${namespace}$2`),
    }));
    return {
      ...object,
      metadata: {
        ...object.metadata,
        namespace: renamed(object.metadata.namespace),
        ...(ownerReferences === undefined ? {} : { ownerReferences }),
      },
    };
  };
  const manifests = plan.manifests.filter(({ kind }) => !isClusterScoped(kind)).map(moved);
  const events = (plan.events ?? []).flatMap((entry): ScenarioEventEntry[] => {
    const { apply, requestFails, ...rest } = entry;
    if (typeof apply === "object") return isClusterScoped(apply.kind) ? [] : [{ ...entry, apply: moved(apply) }];
    if (requestFails !== undefined) return [];
    const [kind = "", target] = Object.entries(rest).find(([key]) => key !== "at" && key !== "for") ?? [];
    if (!OBJECT_EVENTS.has(kind)) return [];
    const subject = target as { readonly kind?: string; readonly namespace?: string };
    return isClusterScoped(subject.kind)
      ? []
      : [{ ...entry, [kind]: { ...subject, namespace: renamed(subject.namespace) } }];
  });
  const workloads = (plan.workloads ?? []).map((entry): WorkloadEntry => ({
    ...entry,
    select: { ...entry.select, namespace: renamed(entry.select.namespace) },
  }));
  const names = new Set([
    namespace,
    ...manifests.map(({ metadata }) => metadata.namespace ?? namespace),
    ...events.flatMap(({ apply }) => (typeof apply === "object" ? [apply.metadata.namespace ?? namespace] : [])),
  ]);
  const namespaces = [...names].map((name): UnstructuredObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  return { ...plan, manifests: [...namespaces, ...manifests], events, workloads };
}

/** What stands for the UID of an object that is yet to be made. */
const DEFAULT_NAMESPACE_PLACEHOLDER = /^(uid of )default(\/)/;

/** Beside what is over soon, a Job that has something to do whenever its bucket goes from one manager to another. */
function withSteadyJob(draw: Draw, plan: FaultPlan): FaultPlan {
  // A quota is for the Jobs that are there without it.
  if (draw.fork("without").chance(0.2) || plan.manifests.some(({ kind }) => kind === "ResourceQuota")) return plan;
  const namespace = plan.manifests[0]!.metadata.name ?? "";
  const containers = [{ name: "main", image: "registry.example.com/main" }];
  const job: UnstructuredObject = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "steady", namespace },
    spec: {
      parallelism: draw.fork("parallelism").integer(1, 3),
      completions: draw.fork("completions").integer(15, 40),
      ...(draw.fork("indexed").chance(0.5) ? { completionMode: "Indexed" } : {}),
      template: { spec: { restartPolicy: "Never", containers } },
    },
  };
  const runs: WorkloadEntry = {
    select: { kind: "Job", namespace, name: "steady" },
    duration: durationText(draw.fork("duration").integer(3_000, 12_000)),
  };
  return { ...plan, manifests: [...plan.manifests, job], workloads: [...(plan.workloads ?? []), runs] };
}

const OBJECT_EVENTS: ReadonlySet<string> = new Set(["patch", "suspend", "resume", "delete", "podEvicted"]);

/** What a write takes to get there must be less than there is from the renew deadline to the end of the lease (7 s). */
const MAX_REQUEST_DELAY_MS = 6_000;

/** A happening of a plan in which the managers are others, or elect a leader. */
function adaptToManagers(entry: ScenarioEventEntry, managers: number): ScenarioEventEntry[] {
  const { paused, clockSkew, apiServerSlow } = entry;
  const one = (name: string): string => `controller-manager-${((Number(name.split("-").at(-1)) - 1) % managers) + 1}`;
  if (paused !== undefined) return [{ ...entry, paused: one(paused) }];
  if (apiServerSlow !== undefined && (parseDuration(apiServerSlow.by) ?? 0) > MAX_REQUEST_DELAY_MS)
    return [{ ...entry, apiServerSlow: { ...apiServerSlow, by: durationText(MAX_REQUEST_DELAY_MS) } }];
  if (clockSkew === undefined) return [entry];
  return [{ ...entry, clockSkew: { ...clockSkew, controllerManager: one(clockSkew.controllerManager) } }];
}
