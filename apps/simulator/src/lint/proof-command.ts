import { formatTime } from "@kubewright/api";

import { formatDuration } from "../duration.js";
import { shellWord } from "../input/find-inputs.js";
import type { Proof } from "./lint-rule.js";

/**
 * The command line that plays a proof.
 *
 * @param source - What the manifest was read from, as its place has it: a file, `standard input`, `folder (kubectl kustomize)`.
 */
export function proofCommand({ startMs, durationMs, flags = [] }: Proof, source: string): string {
  const path = source === "standard input" ? "-" : source.replace(/ \((?:kubectl kustomize|kustomize build)\)$/, "");
  const words = [path, "--start", formatTime(startMs), "--for", formatDuration(durationMs), ...flags];
  return `kubewright run ${words.map(shellWord).join(" ")}`;
}

/** `90m`, `75s`: a length of time as `--duration` reads it, which knows no days. */
export function goDuration(durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
