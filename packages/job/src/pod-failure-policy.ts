import type { ContainerStatus, DeepReadonly, PodFailurePolicy } from "@kubewright/api";

import type { PodObject } from "./job-spec.js";

export type PodFailureAction = "FailJob" | "Ignore" | "Count" | "FailIndex";

/** The decision of a pod failure policy about one failed pod. */
export interface PodFailureMatch {
  /** Action of the matching rule; absent without a match. */
  readonly action?: PodFailureAction;
  /** Whether the failure counts toward `backoffLimit` and `status.failed`. */
  readonly counts: boolean;
  /** For `FailJob`: the message of the Job's condition. */
  readonly message?: string;
}

const COUNTED: PodFailureMatch = { counts: true };

/**
 * Applies the first rule that matches and has a known action. Without a policy or a match, the failure counts.
 *
 * Upstream: pod_failure_policy.go matchPodFailurePolicy.
 */
export function matchPodFailurePolicy(
  policy: DeepReadonly<PodFailurePolicy> | undefined,
  pod: PodObject,
): PodFailureMatch {
  if (policy == null) return COUNTED;
  for (const [ruleIndex, rule] of (policy.rules ?? []).entries()) {
    const action = rule.action;
    if (action !== "FailJob" && action !== "Ignore" && action !== "Count" && action !== "FailIndex") continue;
    const cause =
      rule.onExitCodes != null ? exitCodeCause(rule.onExitCodes, pod) : conditionCause(rule.onPodConditions ?? [], pod);
    if (cause === undefined) continue;
    if (action === "FailJob")
      return { action, counts: true, message: `${cause} matching FailJob rule at index ${ruleIndex}` };
    return { action, counts: action !== "Ignore" };
  }
  return COUNTED;
}

type Rule = DeepReadonly<PodFailurePolicy["rules"][number]>;

/** Checks regular containers first, then init containers. A container with exit code 0 never matches. */
function exitCodeCause(requirement: NonNullable<Rule["onExitCodes"]>, pod: PodObject): string | undefined {
  const { containerName, operator } = requirement;
  // Validation requires values. Without values, `In` matches nothing and `NotIn` matches everything.
  const values = requirement.values ?? [];
  const matches = ({ name, state }: DeepReadonly<ContainerStatus>): boolean => {
    const exitCode = state?.terminated?.exitCode;
    if (exitCode === undefined || exitCode === 0 || (containerName != null && name !== containerName)) return false;
    return operator === "In" ? values.includes(exitCode) : operator === "NotIn" && !values.includes(exitCode);
  };
  const status = pod.status?.containerStatuses?.find(matches) ?? pod.status?.initContainerStatuses?.find(matches);
  if (status === undefined) return undefined;
  const { namespace, name } = pod.metadata;
  return `Container ${status.name} for pod ${namespace}/${name} failed with exit code ${status.state!.terminated!.exitCode}`;
}

function conditionCause(patterns: NonNullable<Rule["onPodConditions"]>, pod: PodObject): string | undefined {
  const condition = pod.status?.conditions?.find(({ type, status }) =>
    patterns.some((pattern) => pattern.type === type && (pattern.status ?? "True") === status),
  );
  return condition && `Pod ${pod.metadata.namespace}/${pod.metadata.name} has condition ${condition.type}`;
}
