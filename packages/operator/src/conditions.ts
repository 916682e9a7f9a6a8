import { type DeepReadonly, type KubernetesObject, formatTime } from "@kubewright/api";

/** One of an object's conditions, as `metav1.Condition` has it. */
export interface Condition {
  /** In CamelCase: `Ready`. */
  type: string;
  status: "True" | "False" | "Unknown";
  /** Why, in CamelCase, for machines. Never empty. */
  reason: string;
  /** The same for people. */
  message: string;
  /** When the status last changed. */
  lastTransitionTime: string;
  /** Of which `metadata.generation` this is said. */
  observedGeneration?: number;
}

/** What whoever sets a condition says of it; {@link setCondition} adds the rest. */
export type NewCondition = Pick<Condition, "type" | "status" | "reason"> & Partial<Pick<Condition, "message">>;

/** An object with conditions, however its type has them. */
export interface Conditioned extends KubernetesObject {
  status?:
    | { conditions?: { type: string; status: string; lastTransitionTime?: string | undefined }[] | undefined }
    | undefined;
}

/**
 * The object's conditions with this one set, at the place it had: `observedGeneration` is the object's generation, and
 * `lastTransitionTime` changes with the status only. The object stays as it is.
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
