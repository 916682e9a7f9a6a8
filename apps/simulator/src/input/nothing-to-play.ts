import { countKinds } from "./unknown-kind.js";

/** What time does anything to. */
const PLAYED: ReadonlySet<string> = new Set(["CronJob", "Job", "Pod"]);

/** Says that nothing of what was created can be played, and what it is; `undefined` when something can. */
export function nothingToPlay(created: readonly string[]): string | undefined {
  if (created.some((kind) => PLAYED.has(kind))) return undefined;
  if (created.length === 0) return "nothing is left to play";
  return `nothing to play: there is no CronJob, Job or Pod, only ${countKinds(created)}`;
}
