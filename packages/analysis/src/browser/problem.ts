/** A mistake or oddity in an input text, with its place. */
export interface Problem {
  /** `request` for problems outside the texts, such as an invalid start time. */
  readonly document: "manifests" | "scenario" | "workloads" | "request";
  /** Line and column count from 1. Absent: the whole document. */
  readonly line?: number;
  readonly column?: number;
  /** The column after the last character. */
  readonly endColumn?: number;
  /** The object: `CronJob default/report`. */
  readonly object?: string;
  /** The field in the API server's notation: `spec.template.spec.containers[0].image`. */
  readonly field?: string;
  readonly message: string;
  /** How to fix it. */
  readonly hint?: string;
  /** An error is refused and the rest is simulated; a warning changes nothing. */
  readonly severity: "error" | "warning";
}
