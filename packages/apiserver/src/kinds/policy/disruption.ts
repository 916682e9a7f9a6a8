import {
  type Pod,
  type PodDisruptionBudget,
  formatTime,
  isConditionTrue,
  labelSelectorMatcher,
  podDisruptionBudgets,
} from "@kubewright/api";

import { type ApiError, forbidden, plainError, statusError } from "../../api-error.js";
import type { WriteServer } from "../../registry/write.js";
import { MARKED_BYTES } from "../../storage/object-size.js";
import type { StoredObject } from "../../storage/stored-object.js";

type Status = NonNullable<PodDisruptionBudget["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];

const DISRUPTION_ALLOWED = "DisruptionAllowed";
const PHASES_WITHOUT_BUDGET = ["Succeeded", "Failed", "Pending"];
/** The maximum number of unconfirmed evictions. Upstream: `MaxDisruptedPodSize`. */
const MAX_DISRUPTED_PODS = 2000;

/**
 * Decrements the allowed disruptions of the pod's budget, if the pod has a budget and counts for it.
 *
 * Upstream: `pkg/registry/core/pod/storage/eviction.go`.
 *
 * @param dryRun - Checks the budget without changing it.
 * @throws ApiError 403 when too many evictions are unconfirmed, 429 when the budget does not allow the disruption, 500
 * when the pod has several budgets
 */
export function consumeDisruption(
  { clock, registry }: Pick<WriteServer, "clock" | "registry">,
  pod: Pod,
  dryRun: boolean,
): void {
  if (pod.metadata.deletionTimestamp || PHASES_WITHOUT_BUDGET.includes(pod.status?.phase ?? "")) return;
  const storage = registry.storageOf(podDisruptionBudgets);
  const budgets = (storage?.list(pod.metadata.namespace) ?? []).filter((stored) => selectsPod(stored, pod));
  const [stored] = budgets;
  if (storage === undefined || stored === undefined) return;
  if (budgets.length > 1)
    throw plainError(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  const budget = stored.object as PodDisruptionBudget;
  if (!isConditionTrue(pod.status?.conditions, "Ready") && allowsUnreadyEviction(budget)) return;
  const status = statusAllowingDisruption(budget);
  if (dryRun) return;
  const now = formatTime(clock.now());
  const disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  const next: PodDisruptionBudget = {
    ...budget,
    metadata: { ...budget.metadata },
    status: {
      ...status,
      disruptionsAllowed,
      disruptedPods: { ...status.disruptedPods, [pod.metadata.name ?? ""]: now },
      ...(disruptionsAllowed > 0 ? {} : { conditions: disruptionNotAllowedConditions(status, now) }),
    },
  };
  storage.write(next, MARKED_BYTES);
}

function selectsPod({ object }: StoredObject, { metadata }: Pod): boolean {
  const selector = (object as PodDisruptionBudget).spec?.selector;
  return selector !== undefined && labelSelectorMatcher(selector)(metadata.labels ?? {});
}

/** Whether an unready pod may be evicted without using the budget. An unready pod does not count as healthy. */
function allowsUnreadyEviction({ spec, status }: PodDisruptionBudget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/**
 * Returns the status if it allows a disruption.
 *
 * @throws ApiError 403, 429
 */
function statusAllowingDisruption({ metadata, status }: PodDisruptionBudget): Status {
  const name = metadata.name ?? "";
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0))
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
  if (Object.keys(status.disruptedPods ?? {}).length > MAX_DISRUPTED_PODS)
    throw forbidden(
      { group: "policy", resource: "poddisruptionbudget", kind: "PodDisruptionBudget" },
      name,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    );
  if ((status.disruptionsAllowed ?? 0) === 0)
    throw tooManyRequests(`The disruption budget ${name} ${refusalMessage(status)}`);
  return status;
}

function refusalMessage({ conditions = [], currentHealthy = 0, desiredHealthy = 0 }: Status): string {
  const refused = conditions.find(
    ({ type, status, message }) => type === DISRUPTION_ALLOWED && status === "False" && message !== "",
  );
  // After a failed sync the counts cannot be trusted.
  if (refused?.reason === "SyncFailed")
    return `does not allow evicting pods currently because it failed sync: ${refused.message}`;
  if (currentHealthy <= desiredHealthy)
    return `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  if (refused !== undefined) return `does not allow evicting pods currently (${refused.reason}): ${refused.message}`;
  return "does not allow evicting pods currently";
}

function tooManyRequests(cause: string, retryAfterSeconds?: number): ApiError {
  return statusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message: cause }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** Upstream: component-helpers `UpdateDisruptionAllowedCondition`. */
function disruptionNotAllowedConditions({ conditions = [], observedGeneration }: Status, now: string): Condition[] {
  const before = conditions.find(({ type }) => type === DISRUPTION_ALLOWED);
  const condition: Condition = {
    type: DISRUPTION_ALLOWED,
    status: "False",
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === "False" ? before.lastTransitionTime : now,
    reason: "InsufficientPods",
    message: "",
  };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((candidate) => (candidate === before ? condition : candidate));
}
