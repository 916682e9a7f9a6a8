import { formatTime } from "@kubewright/api";
import { formatDuration } from "@kubewright/clock";
import type { NodeShape } from "@kubewright/cluster";
import { isTimeZone, suggestTimeZone } from "@kubewright/cron";
import { parseDurationRange, parseExitCodes, parseIndexes } from "@kubewright/cluster/kubelet";

import { closest, suggestion } from "../did-you-mean.js";
import { type ScenarioEventEntry, definitionOf, kindOf } from "../faults/registry.js";
import type { ScenarioObject } from "./scenario-event.js";
import { LONGEST_RUN_MS, TOO_LONG } from "./longest-run.js";
import type { ScenarioFile } from "./scenario-file.js";
import type { NodeGroup, WorkloadEntry } from "./scenario-schema.js";
import { CONTROLLERS, type Role, type RoleValue, type Target, rolesIn } from "./schema.js";
import { DEFINITIONS } from "./target-kinds.js";
import type { Path, ScenarioProblem } from "./problem.js";
import type { GroupedNode } from "./grouped-node.js";
import { durationOf, scenarioEventTime } from "./scenario-times.js";
import { containersOf, exitCodeText, isSelected } from "./workload-annotations.js";

export interface ScenarioFacts {
  readonly startMs: number;
  readonly durationMs: number;
  /** All objects of the scenario: the initial ones, and those that events apply. */
  readonly objects: readonly ScenarioObject[];
  readonly nodes: readonly NodeShape[];
  /** Whether events may name missing objects, as in a minimised plan. Default: false. */
  readonly allowsAbsent?: boolean;
  /** Names of controllers that are not part of Kubernetes; each is a separate process. Default: none. */
  readonly controllers?: readonly string[];
}

/** Checks a scenario that matches the schema. */
export function checkScenario(file: ScenarioFile, facts: ScenarioFacts): ScenarioProblem[] {
  return [
    ...checkZone(file),
    ...checkLeases(file),
    ...(file.nodes === undefined ? [] : checkNodes(file.nodes)),
    ...(file.workloads ?? []).flatMap((entry, index) => checkWorkload(entry, ["workloads", index], facts)),
    ...(file.events ?? []).flatMap((entry, index) => checkScenarioEvent(entry, ["events", index], file, facts)),
  ];
}

function checkZone({ timeZone }: ScenarioFile): ScenarioProblem[] {
  if (timeZone === undefined || isTimeZone(timeZone)) return [];
  const meant = suggestTimeZone(timeZone);
  const hint =
    meant === undefined ? "write an IANA name such as Europe/Berlin" : `did you mean ${JSON.stringify(meant)}?`;
  return [{ path: ["timeZone"], message: `${JSON.stringify(timeZone)} is not a time zone; ${hint}` }];
}

function checkLeases({ controllers: { leaseDurations = [], sharding = false } = {} }: ScenarioFile): ScenarioProblem[] {
  if (sharding && leaseDurations.length > 0) {
    const message = "is of a leader's Lease, and managers that share work have none; leave it out";
    return [{ path: ["controllers", "leaseDurations"], message, atKey: true }];
  }
  return leaseDurations.flatMap((text, index) => {
    const durationMs = durationOf(text);
    if (durationMs >= 1_000 && durationMs % 1_000 === 0) return [];
    const path = ["controllers", "leaseDurations", index];
    return [{ path, message: `${JSON.stringify(text)} is not a whole number of seconds; write for example 15s` }];
  });
}

/** Returns the machines of the node groups. */
export function nodeShapes(groups: readonly NodeGroup[]): GroupedNode[] {
  return groups.flatMap(({ name, count, cpu = 16, memory = "64Gi", pods = 110, labels, taints }) =>
    Array.from({ length: count ?? 1 }, (_, index): GroupedNode => ({
      name: count === undefined ? name : `${name}-${index + 1}`,
      ...(count === undefined ? {} : { group: name }),
      cpu: String(cpu),
      memory: String(memory),
      pods,
      ...(labels === undefined ? {} : { labels }),
      ...(taints === undefined ? {} : { taints }),
    })),
  );
}

/** The limit of Kubernetes itself. */
const MAX_NODES = 5_000;

function checkNodes(groups: readonly NodeGroup[]): ScenarioProblem[] {
  const total = groups.reduce((sum, { count = 1 }) => sum + count, 0);
  if (total > MAX_NODES)
    return [{ path: ["nodes"], message: `${total} nodes are too many; at most ${MAX_NODES} are simulated` }];
  const seen = new Set<string>();
  return groups.flatMap((group, index) => {
    const twice = nodeShapes([group]).find(({ name }) => seen.has(name));
    for (const { name } of nodeShapes([group])) seen.add(name);
    if (twice === undefined) return [];
    return [{ path: ["nodes", index, "name"], message: `there is a node ${JSON.stringify(twice.name)} already` }];
  });
}

function checkWorkload(entry: WorkloadEntry, path: Path, { objects, allowsAbsent }: ScenarioFacts): ScenarioProblem[] {
  if (allowsAbsent === true) return checkWorkloadSettings(entry, path);
  const problems: ScenarioProblem[] = [];
  const report = (field: string, message: string): void => void problems.push({ path: [...path, field], message });
  const selected = objects.filter(({ object }) => isSelected(entry, object));
  if (selected.length === 0) report("select", `selects nothing; ${availableText(entry.select, objects)}`);
  const containers = [...new Set(selected.flatMap(({ object }) => containersOf(object)))];
  if (entry.container !== undefined && selected.length > 0 && !containers.includes(entry.container))
    report(
      "container",
      `nothing selected has a container ${JSON.stringify(entry.container)}; ${suggestion(entry.container, containers)}`,
    );
  return [...problems, ...checkWorkloadSettings(entry, path)];
}

/** Checks the settings of a workload entry, independent of the objects. */
export function checkWorkloadSettings(entry: WorkloadEntry, path: Path): ScenarioProblem[] {
  const problems: ScenarioProblem[] = [];
  const report = (field: string, message: string): void => void problems.push({ path: [...path, field], message });
  for (const field of ["duration", "startupDelay"] as const) {
    const text = entry[field];
    if (text !== undefined && parseDurationRange(text) === undefined)
      report(
        field,
        `${JSON.stringify(text)} is not a duration; write for example 5m, 20m..70m, normal(10m, 2m), lognormal(10m, 0.5) in 5m..2h or exponential(10m)`,
      );
  }
  for (const field of ["indexes", "attempts"] as const) {
    const text = entry[field];
    if (text !== undefined && parseIndexes(String(text)) === undefined)
      report(field, `${JSON.stringify(text)} ends before it begins; write for example "1,3-5"`);
  }
  if (entry.exitCode !== undefined && parseExitCodes(exitCodeText(entry.exitCode)) === undefined)
    report("exitCode", "no code has a share above 0; write for example { 0: 0.9, 137: 0.1 }");
  for (const field of ["startupDelay", "ignoreSigterm"] as const)
    if (entry.container !== undefined && entry[field] !== undefined)
      report(field, "is of the whole pod; put it into an entry without `container`");
  const { select: _select, container: _container, indexes: _indexes, attempts: _attempts, ...settings } = entry;
  if (Object.keys(settings).length === 0)
    problems.push({ path, message: "says nothing; give it duration, startupDelay, exitCode or ignoreSigterm" });
  return problems;
}

function availableText({ kind, name }: WorkloadEntry["select"], objects: readonly ScenarioObject[]): string {
  const there = objects.filter(({ object }) =>
    kind === undefined ? object.kind === "Job" || object.kind === "CronJob" : object.kind === kind,
  );
  if (there.length === 0) return `there is no ${kind ?? "Job or CronJob"} among the manifests`;
  const names = there.map(({ object }) => object.metadata.name ?? "");
  const meant = name === undefined || names.includes(name) ? undefined : closest(name, names);
  if (meant !== undefined) return `did you mean ${JSON.stringify(meant)}?`;
  return `there is ${there.map(({ object }) => `${object.kind} ${object.metadata.namespace ?? "default"}/${object.metadata.name}`).join(", ")}`;
}

function checkScenarioEvent(
  entry: ScenarioEventEntry,
  path: Path,
  file: ScenarioFile,
  facts: ScenarioFacts,
): ScenarioProblem[] {
  const kind = kindOf(entry);
  if (kind === undefined) {
    const several = Object.keys(entry).filter((key) => key !== "at" && key !== "for");
    if (several.length === 0)
      return [{ path, message: "has a time but no kind of event; add for example `controllerDown: all`" }];
    return [{ path, message: `${several.join(" and ")} are two events; give each its own entry` }];
  }
  const problems: ScenarioProblem[] = [];
  const report = (at: Path, message: string): void => void problems.push({ path: [...path, ...at], message });
  const { startMs, durationMs } = facts;
  const atMs = scenarioEventTime(entry.at, startMs);
  const endMs = startMs + durationMs;
  if (Number.isNaN(atMs)) report(["at"], `${JSON.stringify(entry.at)} is not a valid time`);
  else if (atMs < startMs)
    report(["at"], `${entry.at} is before the start, ${formatTime(startMs)}; nothing happens before that`);
  else if (atMs >= endMs)
    report(
      ["at"],
      `${entry.at} is not before the end, ${formatTime(endMs)}; run longer than ${formatDuration(durationMs)}, or move the event earlier`,
    );
  const definition = definitionOf(kind);
  const { lasts } = definition;
  if (entry.for !== undefined && lasts === undefined)
    problems.push({ path: [...path, "for"], atKey: true, message: `${kind} does not last; leave \`for\` out` });
  if (entry.for !== undefined && durationOf(entry.for) > LONGEST_RUN_MS)
    report(["for"], `${JSON.stringify(entry.for)} ${TOO_LONG}`);
  if (entry.for === undefined && lasts === "required")
    report([], `${kind} needs \`for\`: how long it lasts, for example 10m`);
  const { controllerManagers = 1, controllers: { sharding: isSharding = false } = {} } = file;
  const names = knownNames(controllerManagers, isSharding, facts);
  const inValue = [
    ...rolesIn(definition.schema, entry[kind]).flatMap((each) => checkRole(each, names, facts)),
    ...(definition.check?.(entry[kind], { controllerManagers, isSharding }) ?? []),
  ];
  return [...problems, ...inValue.map((problem) => ({ ...problem, path: [...path, kind, ...problem.path] }))];
}

/**
 * Components of managers that share work: one coordinates the managers, the other fills the caches of all their
 * controllers.
 */
export const SHARDING_COMPONENTS: readonly string[] = ["sharding", "informers"];

type KnownNames = Readonly<Partial<Record<Role, readonly string[]>>>;

/** Returns the names that a value with a role may have. */
function knownNames(
  controllerManagers: number,
  isSharding: boolean,
  { controllers: others = [], objects }: ScenarioFacts,
): KnownNames {
  const controllers = [...CONTROLLERS, ...others];
  const watcher = [...controllers, ...(isSharding ? SHARDING_COMPONENTS : []), "scheduler", "kubelet"];
  const manager = Array.from({ length: controllerManagers }, (_, index) => `controller-manager-${index + 1}`);
  const defined = objects.flatMap(({ object }) => {
    const { spec } = object as { spec?: { names?: { kind?: string } } };
    return object.kind === "CustomResourceDefinition" && spec?.names?.kind !== undefined ? [spec.names.kind] : [];
  });
  return {
    controller: ["all", ...controllers],
    controllerOrManager: ["all", ...controllers, ...manager],
    watcher,
    component: [...watcher, "user"],
    process: [...manager, ...others],
    manager,
    kind: [...new Set([...Object.keys(DEFINITIONS), ...defined, ...objects.map(({ object }) => object.kind ?? "")])],
  };
}

function checkRole(
  { role, value, path, parent }: RoleValue,
  names: KnownNames,
  facts: ScenarioFacts,
): ScenarioProblem[] {
  switch (role) {
    case "delay":
    case "duration":
    case "jump":
      if (durationOf(String(value).replace(/^[+-]/, "")) <= LONGEST_RUN_MS) return [];
      return [{ path, message: `${JSON.stringify(value)} ${TOO_LONG}` }];
    case "node":
      return checkNode(String(value), path, facts);
    case "job": {
      const { namespace = "default" } = parent as Partial<Target>;
      return checkNamed({ kind: "Job", name: String(value), namespace }, path, facts);
    }
    case "target":
      return checkTarget(value as Target, path, facts);
    default: {
      const known = names[role] ?? [];
      return [value]
        .flat()
        .filter((name): name is string => typeof name === "string" && !known.includes(name))
        .map((name) => ({ path, message: `${JSON.stringify(name)} is not known; ${suggestion(name, known)}` }));
    }
  }
}

function checkNode(name: string, path: Path, { nodes, objects, allowsAbsent }: ScenarioFacts): ScenarioProblem[] {
  if (allowsAbsent === true) return [];
  const made = objects.filter(({ object }) => object.kind === "Node").map(({ object }) => object.metadata.name ?? "");
  const names = [...nodes.map((node) => node.name), ...made];
  if (names.includes(name)) return [];
  return [{ path, message: `there is no node ${JSON.stringify(name)}; ${suggestion(name, names.slice(0, 20))}` }];
}

function checkTarget(target: Target, path: Path, facts: ScenarioFacts): ScenarioProblem[] {
  const { kind, name, namespace = "default", labels } = target;
  if ((name === undefined) === (labels === undefined))
    return [{ path, message: `which ${kind}? Give name, or labels, and not both` }];
  if (name === undefined) {
    if (kind === "Node" || kind === "Namespace")
      return [{ path: [...path, "labels"], atKey: true, message: `a ${kind} is chosen by name` }];
    return [];
  }
  if (kind === "Node") return checkNode(name, [...path, "name"], facts);
  if (kind !== "CronJob" && kind !== "Job") return [];
  return checkNamed({ kind, name, namespace }, [...path, "name"], facts);
}

/** Checks that a Job or CronJob of this name exists or will exist. */
function checkNamed(
  { kind, name, namespace }: { readonly kind: "CronJob" | "Job"; readonly name: string; readonly namespace: string },
  path: Path,
  facts: ScenarioFacts,
): ScenarioProblem[] {
  if (facts.allowsAbsent === true) return [];
  const inNamespace = facts.objects.filter(({ object }) => (object.metadata.namespace ?? "default") === namespace);
  const names = (wanted: string): string[] =>
    inNamespace.filter(({ object }) => object.kind === wanted).map(({ object }) => object.metadata.name ?? "");
  if (names(kind).includes(name)) return [];
  // A CronJob's Job is named after the CronJob and the minute.
  if (kind === "Job" && names("CronJob").some((cronJob) => name.startsWith(`${cronJob}-`))) return [];
  const there = names(kind);
  const hint = there.length === 0 ? `there is none in namespace ${namespace}` : suggestion(name, there);
  return [{ path, message: `there is no ${kind} ${JSON.stringify(`${namespace}/${name}`)}; ${hint}` }];
}
