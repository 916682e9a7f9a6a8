import { countKinds } from "./unknown-kind.js";

/** Kinds that change over time. */
const SIMULATED_KINDS: ReadonlySet<string> = new Set(["CronJob", "Job", "Pod"]);

/** Describes created objects that cannot be simulated; `undefined` when any of them can. */
export function nothingToSimulate(created: readonly string[]): string | undefined {
  if (created.some((kind) => SIMULATED_KINDS.has(kind))) return undefined;
  if (created.length === 0) return "nothing is left to simulate";
  return `nothing to simulate: there is no CronJob, Job or Pod, only ${countKinds(created)}`;
}
