import { parseDurationRange } from "@kubewright/cluster/kubelet";
import { type WorkloadEntry, isSelected } from "@kubewright/simulation";

import type { Manifest } from "../input/manifest.js";
import { UserError } from "../errors/user-error.js";

export interface WorkloadFlags {
  /** `SELECTION=DISTRIBUTION`, repeatable. */
  readonly duration?: readonly string[];
  /** `SELECTION=SHARE`, repeatable. */
  readonly fail?: readonly string[];
}

/**
 * Parses workload flags: `billing/*=5m..40m` and `report=2%`. A selection is a name, optionally after its namespace and
 * a slash. `*` matches any characters.
 *
 * @throws UserError for invalid values, and for a selection without a match.
 */
export function workloadEntries(flags: WorkloadFlags, manifests: readonly Manifest[]): WorkloadEntry[] {
  const entries: WorkloadEntry[] = [];
  for (const [flag, texts, read] of [
    ["--duration", flags.duration, durationOf],
    ["--fail", flags.fail, failureOf],
  ] as const)
    for (const text of texts ?? []) {
      const equalsIndex = text.lastIndexOf("=");
      const entry = {
        select: selectionOf(flag, text.slice(0, Math.max(equalsIndex, 0)), text),
        ...read(text.slice(equalsIndex + 1)),
      };
      if (!manifests.some(({ object }) => isSelected(entry, object)))
        throw new UserError(`${flag}: ${JSON.stringify(text)} selects nothing; there is ${namesOf(manifests)}`);
      entries.push(entry);
    }
  return entries;
}

function selectionOf(flag: string, selection: string, text: string): WorkloadEntry["select"] {
  const parts = selection.split("/");
  const name = parts.pop() ?? "";
  if (name === "" || parts.length > 1 || parts[0] === "")
    throw new UserError(
      `${flag}: ${JSON.stringify(text)} names nothing; write for example ${flag === "--fail" ? "'report=2%'" : "'billing/*=5m..40m'"}`,
    );
  return { name, ...(parts.length === 0 ? {} : { namespace: parts[0]! }) };
}

function durationOf(text: string): Pick<WorkloadEntry, "duration"> {
  if (parseDurationRange(text) !== undefined) return { duration: text };
  throw new UserError(
    `--duration: ${JSON.stringify(text)} is not a duration; write for example 5m, 20m..70m, normal(10m, 2m), lognormal(10m, 0.5) in 5m..2h or exponential(10m)`,
  );
}

function failureOf(text: string): Pick<WorkloadEntry, "exitCode"> {
  const match = /^(\d+(?:\.\d+)?)(%?)$/.exec(text);
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === "%" ? 100 : 1);
  if (!(share >= 0 && share <= 1))
    throw new UserError(`--fail: ${JSON.stringify(text)} is no share from 0% to 100%; write for example 2% or 0.02`);
  return { exitCode: share === 1 ? 1 : { 0: 1 - share, 1: share } };
}

const MAX_NAMES = 10;

function namesOf(manifests: readonly Manifest[]): string {
  const names = manifests
    .filter(({ object }) => object.kind === "CronJob" || object.kind === "Job")
    .map(({ object }) => `${object.metadata.namespace ?? "default"}/${object.metadata.name}`);
  if (names.length === 0) return "neither a CronJob nor a Job";
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}
