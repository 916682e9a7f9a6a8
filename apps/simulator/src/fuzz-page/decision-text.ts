import { errorMessage } from "@kubewright/client";
import { explainJobReason } from "@kubewright/job";
import type { ReportedDecision } from "@kubewright/simulation";

export interface DecisionText {
  /** `creating 1 pod: 0 active, 1 wanted` */
  readonly text: string;
  /** Whether the decision changes anything. */
  readonly hasEffect: boolean;
  /** The error of a failed sync. */
  readonly error?: string;
  /** The object of the decision: a UID, or a resource and `namespace/name`. */
  readonly subject: { readonly uid: string } | { readonly resource: string; readonly key: string };
}

/** Describes a controller's decision for an observer. */
export function describeDecision(decision: ReportedDecision): DecisionText {
  switch (decision.controller) {
    case "job-controller": {
      const { action, reasons, statusWrites, error, uid } = decision.decision;
      const why = reasons.length === 0 ? [action] : reasons.map(explainJobReason);
      const hasEffect = statusWrites > 0 || reasons.some(({ type }) => ACTING.has(type));
      const failed = error === undefined ? {} : { error: errorMessage(error) };
      return { text: why.join("; "), hasEffect, subject: { uid }, ...failed };
    }
    case "cronjob-controller": {
      const { key, outcome, reason, message } = decision.decision;
      const text = message === "" ? `${outcome}: ${reason}` : message;
      const hasEffect = outcome === "ran" || outcome === "replaced" || outcome === "adopted";
      return { text, hasEffect, subject: { resource: "cronjobs.batch", key } };
    }
    case "ttl-after-finished-controller": {
      const { outcome, uid } = decision.decision;
      const text = outcome === "deleted" ? "deletes it: its time to live is over" : "its time to live is not over yet";
      return { text, hasEffect: outcome === "deleted", subject: { uid } };
    }
    case "pod-garbage-collector-controller": {
      const { uid, message, outcome } = decision.decision;
      return { text: message, hasEffect: outcome === "deleted", subject: { uid } };
    }
    case "garbage-collector-controller": {
      const { object, action, reason, propagationPolicy } = decision.decision;
      const how = propagationPolicy === undefined ? "" : ` (${propagationPolicy})`;
      return { text: `${ACTIONS[action]}${how}: ${reason}`, hasEffect: true, subject: { uid: object.uid } };
    }
    default:
      return decision satisfies never;
  }
}

const ACTING: ReadonlySet<string> = new Set(["Creating", "TooManyActive", "UselessIndexes", "Ending", "Finished"]);
const ACTIONS = { deleted: "deletes it", referencesRemoved: "removes owners from it", released: "releases it" };
