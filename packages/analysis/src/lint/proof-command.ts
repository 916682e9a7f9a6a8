import { formatTime } from "@kubewright/api";

import { shellWord } from "../input/paths.js";
import type { Proof } from "./lint-rule.js";

/**
 * Returns the command line that simulates a proof.
 *
 * @param source - Source in the manifest's place: a file, `standard input`, or `folder (kubectl kustomize)` or `folder (helm template)`.
 */
export function proofCommand({ startMs, durationMs, flags = [] }: Proof, source: string): string {
  const path =
    source === "standard input" ? "-" : source.replace(/ \((?:kubectl kustomize|kustomize build|helm template)\)$/, "");
  const args = [path, "--start", formatTime(startMs), "--for", exactDuration(durationMs), ...flags];
  return `kubewright run ${args.map(shellWord).join(" ")}`;
}

/** Formats `90m` or `75s` for `--duration`, which does not support days. */
export function goDuration(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** Formats `7d3m` exactly to the second; `formatDuration` omits the minutes of a week. */
function exactDuration(durationMs: number): string {
  let rest = Math.ceil(durationMs / 1000);
  return UNITS.map(([unit, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest %= seconds;
    return count === 0 ? "" : `${count}${unit}`;
  }).join("");
}
