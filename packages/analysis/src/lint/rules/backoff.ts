import { formatDuration } from "../../time/duration.js";
import type { LintContext } from "../lint-context.js";
import type { LintRule, Proof } from "../lint-rule.js";
import { AHEAD_MS, startBefore } from "../slots.js";
import { type Subject, numberIn } from "../subject.js";

const DEFAULT_LIMIT = 6;
const BASE_SECONDS = 10;
/**
 * Longest back-off: of new pods, kubernetes v1.36 pkg/controller/job/job_controller.go; of container restarts,
 * pkg/kubelet/kubelet.go.
 */
const MAX_SECONDS = { Never: 600, OnFailure: 300 } as const;

export const backoffBeyondDeadline: LintRule = {
  name: "backoff-beyond-deadline",
  level: "note",
  summary: "activeDeadlineSeconds ends the Job before its backoffLimit is reached",
  check: (subject, context) => {
    const { job, jobPath } = subject;
    const deadline = numberIn(job.activeDeadlineSeconds);
    const policy = job.template?.spec?.restartPolicy;
    if (deadline === undefined || (policy !== "Never" && policy !== "OnFailure")) return [];
    // Concurrent pod failures all count, and each index has its own limit.
    if ((numberIn(job.parallelism) ?? 1) > 1 || job.backoffLimitPerIndex != null) return [];
    const limit = numberIn(job.backoffLimit) ?? DEFAULT_LIMIT;
    const seconds = waitedSeconds(limit, policy);
    if (seconds < deadline) return [];
    const which = job.backoffLimit == null ? `the default backoffLimit of ${limit}` : `a backoffLimit of ${limit}`;
    const proof = proofOf(subject, context, deadline);
    return [
      {
        text: `${which} is never reached: between so many failures lie ${formatDuration(seconds * 1000)} of waiting, and activeDeadlineSeconds ends the Job after ${formatDuration(deadline * 1000)}; a Job that fails for good ends with DeadlineExceeded`,
        path: [...jobPath, "activeDeadlineSeconds"],
        ...(proof === undefined ? {} : { proof }),
      },
    ];
  },
};

/** Returns the total wait before the failure that exceeds the limit. */
function waitedSeconds(limit: number, policy: keyof typeof MAX_SECONDS): number {
  // The first restart of a container has no back-off.
  const waits = policy === "Never" ? limit : limit - 1;
  let sum = 0;
  for (let each = 0, wait = BASE_SECONDS; each < waits; each++, wait = Math.min(2 * wait, MAX_SECONDS[policy])) {
    if (wait === MAX_SECONDS[policy]) return sum + (waits - each) * wait;
    sum += wait;
  }
  return sum;
}

/** Returns a proof in which all runs fail immediately and the deadline still ends the Job. */
function proofOf(subject: Subject, context: LintContext, deadline: number): Proof | undefined {
  const { kind, namespace, name } = subject;
  // A pod failure policy may end the Job earlier.
  if (subject.job.podFailurePolicy != null) return undefined;
  const slots = kind === "Job" ? undefined : context.slotsOf(subject);
  if (kind === "CronJob" && slots === undefined) return undefined;
  const startMs = slots === undefined ? Math.ceil(context.fromMs / 1000) * 1000 : startBefore(slots.shortest, slots);
  const beginsMs = slots?.shortest.fromMs ?? startMs;
  const object = `${namespace}/${name}`;
  return {
    startMs,
    durationMs: beginsMs - startMs + deadline * 1000 + AHEAD_MS,
    flags: ["--fail", `${object}=100%`, "--duration", `${object}=1s`, "--fail-on", `${object}:failed`],
    shows: "DeadlineExceeded",
  };
}
