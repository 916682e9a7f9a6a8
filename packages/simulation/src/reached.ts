import type { AnsweredRequest, ToldDecision } from "./world.js";

/** What a decision shows to have been reached: which plan, which reasons, which skip. */
export function reachedBy(told: ToldDecision): string[] {
  const { controller } = told;
  switch (told.controller) {
    case "job-controller": {
      const { action, reasons, error } = told.decision;
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
      const { outcome, reason, missed } = told.decision;
      return [
        `${controller} ${outcome} ${reason}`,
        ...missed.map((slots) => `${controller} missed a slot: ${slots.reason}`),
      ];
    }
    case "ttl-after-finished-controller":
      return [`${controller} ${told.decision.outcome}`];
    case "pod-garbage-collector-controller":
      return [`${controller} ${told.decision.outcome} ${told.decision.reason}`];
    case "garbage-collector-controller": {
      const { action, propagationPolicy } = told.decision;
      return [`${controller} ${action}${propagationPolicy === undefined ? "" : ` ${propagationPolicy}`}`];
    }
    default:
      return told satisfies never;
  }
}

/** What an answer shows to have been reached. */
export function reachedByAnswer({
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
