import { countKinds } from "./unknown-kind.js";

/** What time does anything to. */
const SIMULATED_KINDS: ReadonlySet<string> = new Set(["CronJob", "Job", "Pod"]);

/** Says that nothing of what was created can be played, and what it is; `undefined` when something can. */
export function nothingToSimulate(created: readonly string[]): string | undefined {
  if (created.some((kind) => SIMULATED_KINDS.has(kind))) return undefined;
  if (created.length === 0) return "nothing is left to simulate";
  return `nothing to simulate: there is no CronJob, Job or Pod, only ${countKinds(created)}`;
}
