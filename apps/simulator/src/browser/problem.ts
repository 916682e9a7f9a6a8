/** Something wrong or odd in what somebody wrote, and where. */
export interface Problem {
  /** `request` for what stands in none of the texts, such as a start that is no time. */
  readonly document: "manifests" | "scenario" | "workloads" | "request";
  /** Counted from one, as columns are. Absent: the document as a whole. */
  readonly line?: number;
  readonly column?: number;
  /** Behind the last character. */
  readonly endColumn?: number;
  /** Whose it is: `CronJob default/report`. */
  readonly object?: string;
  /** As the API server writes it: `spec.template.spec.containers[0].image`. */
  readonly field?: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Errors are refused, and the rest is played; warnings are passed over. */
  readonly severity: "error" | "warning";
}
