import { isConditionTrue, type Job, parseTime } from "@kubewright/api";

import type { TablePrinter } from "../../strategy.js";
import { humanDuration } from "../human-duration.js";
import { ageCell, containerColumns, selectorCell, table } from "../table-cells.js";

/** Upstream: `printJob` in `pkg/printers/internalversion`. */
export const jobPrinter: TablePrinter<Job> = table<Job>({
  Status: (job) => statusCell(job),
  Completions: (job) => completionsCell(job),
  Duration: (job, nowMs) => durationCell(job, nowMs),
  Age: ageCell,
  ...containerColumns((job) => job.spec?.template?.spec),
  "Selector*": (job) => selectorCell(job.spec?.selector),
});

function statusCell({ metadata, status }: Job): string {
  const is = (type: string): boolean => isConditionTrue(status?.conditions, type);
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(is) ?? "Running";
}

function completionsCell({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status }: Job, nowMs: number): string {
  const startMs = parseTime(status?.startTime);
  if (startMs === undefined) return "";
  return humanDuration((parseTime(status?.completionTime) ?? nowMs) - startMs);
}
