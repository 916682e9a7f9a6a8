import type { Rule } from "@kubewright/analysis/fail-on";
import type { RunInputFlags } from "@kubewright/analysis/input";
import type { ReportFlags } from "@kubewright/analysis/reports";

import type { IndexedJobFlags } from "../indexed-job/indexed-job-flags.js";

/** The options of `kubewright run`. */
export interface RunFlags extends RunInputFlags, ReportFlags, IndexedJobFlags {
  readonly json?: string;
  readonly html?: string;
  readonly runs?: string;
  /** The manifests of B. Default: those of A. */
  readonly against?: string;
  /** The release of B. Default: that of A. */
  readonly againstKubernetes?: string;
  readonly seeds?: string;
  readonly workers?: string;
  readonly nodeSize?: readonly string[];
  readonly failOn?: readonly string[];
  readonly ics?: string;
}

/** The options, with the parsed rules of `--fail-on`. */
export interface CheckedRunFlags extends RunFlags {
  readonly rules: readonly Rule[];
}

/** The files that a run reads. */
export function runFiles(paths: readonly string[], { scenario }: RunFlags): string[] {
  return scenario === undefined ? [...paths] : [...paths, scenario];
}
