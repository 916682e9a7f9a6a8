import { type DeepReadonly, type KubernetesObject, formatTime } from "@kubewright/api";

/** A condition of an object, as `metav1.Condition`. */
export interface Condition {
  /** In CamelCase: `Ready`. */
  type: string;
  status: "True" | "False" | "Unknown";
  /** Machine-readable reason in CamelCase. Never empty. */
  reason: string;
  /** Human-readable explanation. */
  message: string;
  /** Time of the last change of `status`. */
  lastTransitionTime: string;
  /** The `metadata.generation` that the condition was computed for. */
  observedGeneration?: number;
}

/** The fields that the caller sets; {@link setCondition} adds the others. */
export type NewCondition = Pick<Condition, "type" | "status" | "reason"> & Partial<Pick<Condition, "message">>;

/** An object with conditions of any type. */
export interface Conditioned extends KubernetesObject {
  status?:
    | { conditions?: { type: string; status: string; lastTransitionTime?: string | undefined }[] | undefined }
    | undefined;
}

/**
 * Returns the object's conditions with this one set, at the same position. `observedGeneration` is the object's
 * generation. `lastTransitionTime` changes only with the status. Does not modify the object.
 *
 * @param now - In milliseconds since the epoch.
 * @see apimachinery api/meta SetStatusCondition
 */
export function setCondition(
  object: DeepReadonly<Conditioned>,
  { type, status, reason, message = "" }: NewCondition,
  now: number,
): Condition[] {
  const conditions = (object.status?.conditions ?? []) as readonly Readonly<Condition>[];
  const { generation } = object.metadata;
  const known = conditions.find((each) => each.type === type);
  const condition: Condition = {
    type,
    status,
    reason,
    message,
    lastTransitionTime: known?.status === status ? known.lastTransitionTime : formatTime(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  if (known === undefined) return [...conditions, condition];
  return conditions.map((each) => (each === known ? condition : each));
}
