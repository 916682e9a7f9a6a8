import type { EndState } from "./end-state.js";

/** Why a sync did something, or did nothing. {@link explainJobReason} converts it to text. */
export type JobReason =
  | {
      readonly type: "Creating";
      readonly count: number;
      readonly active: number;
      readonly wanted: number;
      readonly failed: number;
    }
  | { readonly type: "EnoughActive"; readonly active: number; readonly wanted: number }
  | { readonly type: "TooManyActive"; readonly deleting: number; readonly active: number; readonly wanted: number }
  | { readonly type: "UselessIndexes"; readonly deleting: number }
  | { readonly type: "Terminating"; readonly terminating: number; readonly wanted: number }
  | { readonly type: "Backoff"; readonly failures: number; readonly remainingMs: number }
  | { readonly type: "IndexBackoff"; readonly indexes: readonly number[]; readonly remainingMs: number }
  | { readonly type: "NoPendingIndex" }
  | { readonly type: "Suspended"; readonly deleting: number }
  | { readonly type: "Resumed" }
  | { readonly type: "ExpectationsPending" }
  | { readonly type: "JobBeingDeleted" }
  | { readonly type: "Ending"; readonly end: EndState; readonly deleting: number }
  | {
      readonly type: "EndPostponed";
      readonly end: EndState;
      readonly because: "ExpectationsPending" | "DeletionFailed";
    }
  | { readonly type: "WaitingForTermination"; readonly terminating: number }
  | { readonly type: "PodsLeftToCount" }
  | { readonly type: "PodsCounted"; readonly succeeded: number; readonly failed: number }
  | {
      readonly type: "Finished";
      readonly condition: "Complete" | "Failed";
      readonly reason: string;
      readonly message: string;
    };

/** Explains a reason in one sentence for a user who watches the Job. */
export function explainJobReason(reason: JobReason): string {
  switch (reason.type) {
    case "Creating": {
      const retry = reason.failed > 0 ? `, after ${count(reason.failed, "failure")}` : "";
      return `creating ${count(reason.count, "pod")}: ${reason.active} active, ${reason.wanted} wanted${retry}`;
    }
    case "EnoughActive":
      return `nothing to create: ${reason.active} active, ${reason.wanted} wanted`;
    case "TooManyActive":
      return `deleting ${count(reason.deleting, "pod")}: ${reason.active} active, ${reason.wanted} wanted`;
    case "UselessIndexes":
      return `deleting ${count(reason.deleting, "pod")} whose index is out of range or taken by another pod`;
    case "Terminating":
      return `not creating pods until ${count(reason.terminating, "terminating pod")} ended (podReplacementPolicy Failed): ${reason.wanted} wanted`;
    case "Backoff":
      return `waiting ${seconds(reason.remainingMs)} before replacing a failed pod (${count(reason.failures, "failure")} since the last success)`;
    case "IndexBackoff":
      return `waiting ${seconds(reason.remainingMs)} before retrying index ${reason.indexes.join(", ")}`;
    case "NoPendingIndex":
      return "nothing to create: every index is running, finished or given up";
    case "Suspended":
      return reason.deleting > 0
        ? `suspended: deleting ${count(reason.deleting, "active pod")}`
        : "suspended: no pods are created";
    case "Resumed":
      return "resumed: the time the Job may be active starts over";
    case "ExpectationsPending":
      return "leaving pods alone until the cache shows those created or deleted last";
    case "JobBeingDeleted":
      return "leaving pods alone because the Job is being deleted";
    case "Ending": {
      const outcome = reason.end.type === "FailureTarget" ? "failing" : "succeeding";
      const pods = reason.deleting > 0 ? `; deleting ${count(reason.deleting, "active pod")}` : "";
      return `${outcome}: ${reason.end.reason}: ${reason.end.message}${pods}`;
    }
    case "EndPostponed":
      return reason.because === "DeletionFailed"
        ? `the end (${reason.end.reason}) has to wait because an active pod could not be deleted`
        : `the end (${reason.end.reason}) has to wait because the cache does not show the pods created or deleted last`;
    case "WaitingForTermination":
      return `not finished until ${count(reason.terminating, "terminating pod")} ended`;
    case "PodsLeftToCount":
      return "not finished until the remaining pods are counted: one sync counts at most 500";
    case "PodsCounted":
      return `counted ${reason.succeeded} succeeded and ${reason.failed} failed`;
    case "Finished":
      return `${reason.condition}: ${reason.reason}: ${reason.message}`;
    default:
      return reason satisfies never;
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
