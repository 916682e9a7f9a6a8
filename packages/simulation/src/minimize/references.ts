import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

import type { FaultPlan } from "../fault-plan.js";
import type { ScenarioEventEntry, Target, WorkloadEntry } from "../scenario/scenario-file.js";

/** Returns what a plan's events and workloads name and the plan does not define; such a plan cannot be run. */
export function missingReferences(plan: FaultPlan): string[] {
  const { controllerManagers = 1, nodes, manifests, events = [], workloads = [] } = plan;
  const defined = new Set([
    ...[...manifests, ...events.flatMap(appliedBy)].map(nameOf),
    ...(nodes ?? [{ name: "node", count: 3 }]).flatMap(({ name, count }) =>
      count === undefined ? [`Node ${name}`] : Array.from({ length: count }, (_, index) => `Node ${name}-${index + 1}`),
    ),
    ...Array.from({ length: controllerManagers }, (_, index) => `controller-manager-${index + 1}`),
    ...(controllerManagers > 1 || plan.controllers?.sharding === true ? ["an election"] : []),
    ...(plan.controllers?.sharding === true ? ["shared work"] : []),
    "Namespace default",
  ]);
  const named = [...events, ...workloads].flatMap(namesIn);
  const namespaces = manifests.flatMap(({ metadata: { namespace = "default" } }) => `Namespace ${namespace}`);
  return [...new Set([...named, ...namespaces])].filter(
    (name) => !defined.has(name) && !isCronJobRunName(name, defined),
  );
}

/** Reports whether it is the name of a CronJob's Job: the CronJob's name and a minute. */
function isCronJobRunName(name: string, defined: ReadonlySet<string>): boolean {
  const [, cronJob] = /^Job (.+)-\d{8}$/.exec(name) ?? [];
  return cronJob !== undefined && defined.has(`CronJob ${cronJob}`);
}

/** Reports whether an entry names an object. */
export function refersTo(entry: ScenarioEventEntry | WorkloadEntry, object: DeepReadonly<UnstructuredObject>): boolean {
  return namesIn(entry).includes(nameOf(object));
}

/** Returns an object's kind and name: `Job default/pi`, `Namespace second`. */
export function nameOf({ kind, metadata: { namespace, name } }: DeepReadonly<UnstructuredObject>): string {
  const isNamespaced = kind !== "Node" && kind !== "Namespace";
  return isNamespaced ? `${kind} ${namespace ?? "default"}/${name}` : `${kind} ${name}`;
}

function appliedBy({ apply }: ScenarioEventEntry): UnstructuredObject[] {
  return typeof apply === "object" ? [apply] : [];
}

function namesIn(entry: Partial<ScenarioEventEntry> & Partial<WorkloadEntry>): string[] {
  const { nodeLost, nodeDrained, nodeTainted, paused, clockSkew, leaseLost, shutdown, select, podEvicted } = entry;
  const { requestFails, apiServerSlow, controllerDown, controllerUp } = entry;
  const nodes = [nodeLost, nodeDrained, nodeTainted?.node].filter((node) => node !== undefined);
  const managers = [
    paused,
    clockSkew?.controllerManager,
    shutdown,
    requestFails?.controllerManager,
    apiServerSlow?.controllerManager,
    ...[leaseLost, controllerDown, controllerUp].map((who) => (isManager(who) ? who : undefined)),
  ].filter((manager) => manager !== undefined);
  const components = [...(requestFails?.components ?? []), ...(apiServerSlow?.components ?? [])];
  const target = select ?? entry.delete ?? entry.patch ?? entry.suspend ?? entry.resume;
  const evicted =
    podEvicted?.job === undefined
      ? []
      : [{ kind: "Job", namespace: podEvicted.namespace, name: podEvicted.job } as const];
  return [
    ...nodes.map((node) => `Node ${node}`),
    ...managers,
    ...(leaseLost === true ? ["an election"] : []),
    ...(shutdown !== undefined || components.some((name) => SHARDING_COMPONENTS.has(name)) ? ["shared work"] : []),
    ...[...(target === undefined ? [] : [target]), ...evicted].flatMap(targetName),
  ];
}

/** Components that exist only where managers share work. */
const SHARDING_COMPONENTS: ReadonlySet<string> = new Set(["sharding", "informers"]);

function isManager(who: true | string | undefined): who is string {
  return typeof who === "string" && /^controller-manager-\d+$/.test(who);
}

/** Pods are created by Jobs; their names are not known. */
function targetName({
  kind,
  namespace,
  name,
}: Partial<Omit<Target, "namespace">> & { namespace?: string | undefined }): string[] {
  if (kind === undefined || name === undefined || kind === "Pod") return [];
  return [nameOf({ apiVersion: "", kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } })];
}
