import type { UnstructuredObject } from "@kubewright/api";
import { parseDuration, seededRandom } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import type { ScenarioEventEntry } from "../faults/registry.js";
import type { WorkloadEntry } from "../scenario/scenario-schema.js";
import { Draw } from "./draw.js";
import { durationText } from "./duration-text.js";
import { FAULT_KINDS, type FaultKind, SHARDING_FAULT_KINDS, type ShardingFaultKind } from "../faults/registry.js";
import { generatePlan } from "./generate-plan.js";
import { endOfScenarioEvent, lengthMs, sortByStart } from "./event-times.js";
import { drawShardingFaults } from "./sharding-faults.js";

export interface ShardedPlanOptions {
  /** Number of controller managers that share the work: 1 to 5. */
  readonly managers: number;
  /** Permitted kinds of fault. Default: all; `[]`: none. */
  readonly faults?: readonly ShardingFaultKind[] | undefined;
}

/** Each manager renews its Lease every two seconds: in a simulation of days the renewals would dominate. */
const LONGEST_MS = 30 * 60_000;
/** A sufficient number of tries to find a shorter plan. */
const MAX_TRIES = 50;
/** A bucket has little to do in a short plan, and only handovers test sharding. */
const SHORTEST_WINDOW_MS = 180_000;
const LONGEST_WINDOW_MS = 10 * 60_000;
/** As in plans of one manager: time to detect and repair everything after the last fault. */
const SLACK_MS = 540_000;

/**
 * Generates the plan of a seed for controller managers that share work: workloads and faults of {@link generatePlan},
 * several of them side by side in separate namespaces, and faults of the managers. It draws from a separate source: the
 * plans of `generatePlan` stay unchanged.
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
  const longestMs = Math.max(...plans.map(lengthMs));
  const windowMs = Math.min(LONGEST_WINDOW_MS, Math.max(SHORTEST_WINDOW_MS, longestMs - 2 * SLACK_MS));
  const sharding = drawShardingFaults(draw.fork("faults"), { faults: allowed, managers, windowMs });
  const isLate = allowed.includes("controllerDown") && managers > 1 && draw.fork("late?").chance(0.4);
  const late = draw.fork("late").integer(20_000, 90_000);
  const { leaseDurations: _leases, ...controllers } = base.controllers ?? {};
  const events = sortByStart([
    ...(isLate ? [{ at: "+0s", for: durationText(late), controllerDown: `controller-manager-${managers}` }] : []),
    ...plans.flatMap((plan) => plan.events ?? []).flatMap((entry) => adaptToManagers(entry, managers)),
    ...sharding,
  ]);
  const overMs = Math.max(longestMs - SLACK_MS, ...events.map(endOfScenarioEvent));
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

/** Returns the plan of the seed, or of a later seed whose workload is short enough. */
function shortPlan(seed: number, draw: Draw, faults: readonly FaultKind[]): FaultPlan {
  let chosen = seed;
  for (let number = 0; number < MAX_TRIES; number++) {
    if (lengthMs(generatePlan(chosen, { faults: [] })) <= LONGEST_MS) break;
    chosen = draw.fork(`shorter ${number}`).integer(0, 2 ** 32 - 1);
  }
  return { ...generatePlan(chosen, { faults }), name: `seed-${seed}`, seed };
}

/** Returns a plan's workload and user actions in a separate namespace, without cluster-scoped objects. */
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

/** Placeholder for the UID of an object that does not exist yet. */
const DEFAULT_NAMESPACE_PLACEHOLDER = /^(uid of )default(\/)/;

/** Adds a Job that runs long enough to have work whenever its bucket changes its manager. */
function withSteadyJob(draw: Draw, plan: FaultPlan): FaultPlan {
  // The quota is sized for the plan's other Jobs.
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

/** The delay of a write must be less than the time from the renew deadline to the end of the Lease (7 s). */
const MAX_REQUEST_DELAY_MS = 6_000;

/** Adapts an event of a plan in which there are other managers, or a leader is elected. */
function adaptToManagers(entry: ScenarioEventEntry, managers: number): ScenarioEventEntry[] {
  const { paused, clockSkew, apiServerSlow } = entry;
  const one = (name: string): string => `controller-manager-${((Number(name.split("-").at(-1)) - 1) % managers) + 1}`;
  if (paused !== undefined) return [{ ...entry, paused: one(paused) }];
  if (apiServerSlow !== undefined && (parseDuration(apiServerSlow.by) ?? 0) > MAX_REQUEST_DELAY_MS)
    return [{ ...entry, apiServerSlow: { ...apiServerSlow, by: durationText(MAX_REQUEST_DELAY_MS) } }];
  if (clockSkew === undefined) return [entry];
  return [{ ...entry, clockSkew: { ...clockSkew, controllerManager: one(clockSkew.controllerManager) } }];
}
