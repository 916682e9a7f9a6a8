import type { DeepReadonly, UnstructuredObject } from "@kubewright/api";

import type { FaultPlan } from "../fault-plan.js";
import { type ScenarioEventEntry, SHARDING_FAULT_KINDS, definitionOf, kindOf } from "../faults/registry.js";
import { SHARDING_COMPONENTS } from "../scenario/check-scenario.js";
import type { WorkloadEntry } from "../scenario/scenario-schema.js";
import { type Target, rolesIn } from "../scenario/schema.js";

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

function namesIn(entry: ScenarioEventEntry | WorkloadEntry): string[] {
  if ("select" in entry) return targetName(entry.select);
  const kind = kindOf(entry);
  if (kind === undefined) return [];
  const isOfSharding = SHARDING_FAULT_KINDS.some((each) => each === kind);
  const named = rolesIn(definitionOf(kind).schema, entry[kind]).flatMap(({ role, value, parent }) => {
    if (role === "target") return targetName(value as Target);
    if (role === "node") return [`Node ${String(value)}`];
    if (role === "job") return targetName({ ...(parent as Partial<Target>), kind: "Job", name: String(value) });
    if (typeof value !== "string") return role === "manager" ? ["an election"] : [];
    return /^controller-manager-\d+$/.test(value)
      ? [value]
      : SHARDING_COMPONENTS.includes(value)
        ? ["shared work"]
        : [];
  });
  return isOfSharding ? [...named, "shared work"] : named;
}

/** Pods are created by Jobs; their names are not known. */
function targetName({ kind, namespace, name }: Partial<Target>): string[] {
  if (kind === undefined || name === undefined || kind === "Pod") return [];
  return [nameOf({ apiVersion: "", kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } })];
}
