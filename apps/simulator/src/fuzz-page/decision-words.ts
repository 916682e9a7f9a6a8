import { errorMessage } from "@kubewright/client";
import { explainJobReason } from "@kubewright/job";
import type { ReportedDecision } from "@kubewright/simulation";

export interface DecisionWords {
  /** `creating 1 pod: 0 active, 1 wanted` */
  readonly text: string;
  /** Whether anything is done. */
  readonly acts: boolean;
  /** What became of it, when that was nothing. */
  readonly error?: string;
  /** What it is about: a UID, or a resource and `namespace/name`. */
  readonly about: { readonly uid: string } | { readonly resource: string; readonly key: string };
}

/** What a controller decided, in the words of whoever watches it. */
export function decisionWords(told: ReportedDecision): DecisionWords {
  switch (told.controller) {
    case "job-controller": {
      const { action, reasons, statusWrites, error, uid } = told.decision;
      const why = reasons.length === 0 ? [action] : reasons.map(explainJobReason);
      const acts = statusWrites > 0 || reasons.some(({ type }) => ACTING.has(type));
      const failed = error === undefined ? {} : { error: errorMessage(error) };
      return { text: why.join("; "), acts, about: { uid }, ...failed };
    }
    case "cronjob-controller": {
      const { key, outcome, reason, message } = told.decision;
      const text = message === "" ? `${outcome}: ${reason}` : message;
      const acts = outcome === "ran" || outcome === "replaced" || outcome === "adopted";
      return { text, acts, about: { resource: "cronjobs.batch", key } };
    }
    case "ttl-after-finished-controller": {
      const { outcome, uid } = told.decision;
      const text = outcome === "deleted" ? "deletes it: its time to live is over" : "its time to live is not over yet";
      return { text, acts: outcome === "deleted", about: { uid } };
    }
    case "pod-garbage-collector-controller": {
      const { uid, message, outcome } = told.decision;
      return { text: message, acts: outcome === "deleted", about: { uid } };
    }
    case "garbage-collector-controller": {
      const { object, action, reason, propagationPolicy } = told.decision;
      const how = propagationPolicy === undefined ? "" : ` (${propagationPolicy})`;
      return { text: `${ACTIONS[action]}${how}: ${reason}`, acts: true, about: { uid: object.uid } };
    }
    default:
      return told satisfies never;
  }
}

const ACTING: ReadonlySet<string> = new Set(["Creating", "TooManyActive", "UselessIndexes", "Ending", "Finished"]);
const ACTIONS = { deleted: "deletes it", referencesRemoved: "removes owners from it", released: "lets go of it" };
