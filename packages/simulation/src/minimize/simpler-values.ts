import { parseDuration } from "@kubewright/clock";

import type { FaultPlan } from "../fault-plan.js";
import { type ScenarioEventEntry, definitionOf, kindOf } from "../faults/registry.js";
import { durationText } from "../generate/duration-text.js";
import { scenarioSchema } from "../scenario/scenario-schema.js";
import { type Role, type Schema, roleOf } from "../scenario/schema.js";

/** A change of a plan: the new value at a path, or `undefined` to remove it. */
export interface Change {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Fields without which an object is invalid. */
const REQUIRED: ReadonlySet<string> = new Set([
  "apiVersion",
  "kind",
  "metadata",
  "name",
  "namespace",
  "spec",
  "status",
  "schedule",
  "jobTemplate",
  "template",
  "containers",
  "image",
  "restartPolicy",
  "matchLabels",
  "hard",
]);

const OPTIONAL_IN_WORKLOADS: ReadonlySet<string> = new Set(["duration", "startupDelay", "ignoreSigterm", "exitCode"]);

/** Returns the removal of every optional value, outer values first. */
export function omissions(plan: FaultPlan): Change[] {
  const { manifests, events = [], workloads = [] } = plan;
  const settings = (["jitter", "controllerManagers", "nodes", "timeZone", "controllers"] as const).filter(
    (key) => plan[key] !== undefined,
  );
  return [
    ...settings.map((key): Change => ({ path: [key], value: undefined })),
    ...keysOf(plan.controllers).map((key): Change => ({ path: ["controllers", key], value: undefined })),
    ...keysOf(plan.jitter).map((key): Change => ({ path: ["jitter", key], value: undefined })),
    ...manifests.flatMap((object, index) => fieldsOf(object, ["manifests", index])),
    ...events.flatMap((entry, index) => [
      ...optionalIn(entry).map((path): Change => ({ path: ["events", index, ...path], value: undefined })),
      ...(typeof entry.apply === "object" ? fieldsOf(entry.apply, ["events", index, "apply"]) : []),
    ]),
    ...workloads.flatMap((entry, index) => {
      const said = keysOf(entry).filter((key) => OPTIONAL_IN_WORKLOADS.has(key));
      return said.length < 2 ? [] : said.map((key): Change => ({ path: ["workloads", index, key], value: undefined }));
    }),
  ];
}

/** Returns the paths of the fields without which an event is still the same. */
function optionalIn(entry: ScenarioEventEntry): string[][] {
  const kind = kindOf(entry);
  if (kind === undefined) return [];
  const { omittable = [] } = definitionOf(kind);
  return keysOf(entry[kind]).flatMap((key) => (omittable.includes(key) ? [[kind, key]] : []));
}

/** Returns reductions of every time and number, large ones first. */
export function reductions(plan: FaultPlan): Change[] {
  const { for: _for, seed: _seed, start: _start, ...rest } = plan;
  return smallerIn(rest, [], scenarioSchema);
}

/** Returns the plan with the change applied. */
export function withChange(plan: FaultPlan, { path, value }: Change): FaultPlan {
  return changed(plan, path, value) as FaultPlan;
}

function changed(from: unknown, [key, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(from))
    return from.map((item: unknown, index) => (index === key ? changed(item, rest, value) : item));
  const { [key]: before, ...others } = from as Record<string, unknown>;
  const after = changed(before, rest, value);
  // Keeps the order of the keys.
  return after === undefined ? others : { ...(from as object), [key]: after };
}

function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function fieldsOf(value: unknown, path: readonly (string | number)[]): Change[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => fieldsOf(item, [...path, index]));
  return keysOf(value).flatMap((key) => {
    const at = [...path, key];
    const inside = fieldsOf((value as Record<string, unknown>)[key], at);
    return REQUIRED.has(key) ? inside : [{ path: at, value: undefined }, ...inside];
  });
}

/** Fields with numbers that are names, codes or probabilities, not amounts. */
const NOT_AMOUNTS: ReadonlySet<string> = new Set(["exitCode", "with", "values", "value"]);
/** A duration of 0 would have no effect; a delay may be 0. */
const LEAST_MS: Partial<Record<Role, number>> = { delay: 0, duration: 1, jump: 1 };

function smallerIn(value: unknown, path: Change["path"], schema: Schema | undefined): Change[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => smallerIn(item, [...path, index], schema?.items));
  if (typeof value === "number") return smallerNumbers(value).map((smaller) => ({ path, value: smaller }));
  if (typeof value === "string") {
    const leastMs = LEAST_MS[(schema && roleOf(schema)) ?? "kind"];
    return leastMs === undefined ? [] : shorterTimes(value, leastMs).map((shorter) => ({ path, value: shorter }));
  }
  return keysOf(value)
    .filter((key) => !NOT_AMOUNTS.has(key))
    .flatMap((key) => smallerIn((value as Record<string, unknown>)[key], [...path, key], schema?.properties?.[key]));
}

function smallerNumbers(value: number): number[] {
  if (!Number.isInteger(value)) return [];
  return [...new Set([1, Math.floor(value / 2), value - 1])].filter((smaller) => smaller >= 1 && smaller < value);
}

function shorterTimes(text: string, leastMs: number): string[] {
  const sign = text.startsWith("+") ? "+" : "";
  const timeMs = parseDuration(text.slice(sign.length));
  if (timeMs === undefined) return [];
  const times = [
    0,
    1_000,
    5_000,
    ...[60_000, 10_000, 1_000].map((unit) => Math.floor(timeMs / unit) * unit),
    Math.floor(timeMs / 2),
  ];
  return [...new Set(times)]
    .filter((shorter) => shorter >= leastMs && shorter < timeMs)
    .map((shorter) => `${sign}${durationText(shorter)}`);
}
