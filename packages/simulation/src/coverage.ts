import type { AnsweredRequest, ReportedDecision } from "./world.js";

/** Returns the coverage of a decision: its plan, reasons and skip reasons. */
export function coverageOf(reported: ReportedDecision): string[] {
  const { controller } = reported;
  switch (reported.controller) {
    case "job-controller": {
      const { action, reasons, error } = reported.decision;
      return [
        `${controller} ${action}`,
        ...reasons.map((reason) => {
          if (reason.type === "Finished") return `${controller} Finished ${reason.condition} ${reason.reason}`;
          if (reason.type === "EndPostponed") return `${controller} EndPostponed ${reason.because}`;
          return `${controller} ${reason.type}`;
        }),
        ...(error === undefined ? [] : [`${controller} ${action} failed`]),
      ];
    }
    case "cronjob-controller": {
      const { outcome, reason, missed } = reported.decision;
      return [
        `${controller} ${outcome} ${reason}`,
        ...missed.map((slots) => `${controller} missed a slot: ${slots.reason}`),
      ];
    }
    case "ttl-after-finished-controller":
      return [`${controller} ${reported.decision.outcome}`];
    case "pod-garbage-collector-controller":
      return [`${controller} ${reported.decision.outcome} ${reported.decision.reason}`];
    case "garbage-collector-controller": {
      const { action, propagationPolicy } = reported.decision;
      return [`${controller} ${action}${propagationPolicy === undefined ? "" : ` ${propagationPolicy}`}`];
    }
    default:
      return reported satisfies never;
  }
}

/** Returns the coverage of a response. */
export function coverageOfAnswer({
  component,
  verb,
  resource,
  subresource,
  code,
  injected,
}: AnsweredRequest): string | undefined {
  if (code < 400 || injected) return undefined;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  return `${component} ${verb} ${what} ${code === 409 ? "conflict" : code}`;
}
