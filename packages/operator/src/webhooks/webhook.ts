import type { KubernetesObject, LabelSelector, ResourceDefinition } from "@kubewright/api";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

/** The requests for which the API server calls an admission webhook, and its behaviour without an answer. */
export interface AdmissionOptions<Operation extends AdmissionOperation = AdmissionOperation> {
  /** Unique in its configuration, with at least two dots. Default: `validate.backups.example.com`, or `mutate.…`. */
  readonly name?: string | undefined;
  /** Default: `CREATE` and `UPDATE`. */
  readonly operations?: readonly Operation[] | undefined;
  /** Such as `status`. Default: the objects themselves. */
  readonly subresource?: string | undefined;
  /** Behaviour when the webhook cannot be called. Default: `Fail`. */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  /** How long the API server waits, 1 to 30. Default: 10. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Whether a call has side effects elsewhere. With `NoneOnDryRun` the webhook must check `dryRun`. Default: `None`.
   */
  readonly sideEffects?: "None" | "NoneOnDryRun" | undefined;
  /** For mutating webhooks: whether to call it again when later webhooks have changed the object. Default: `Never`. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded" | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  /** CEL expressions about `object`, `oldObject` and `request`: the webhook is called only when all are true. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[] | undefined;
}

/** A webhook: a function with everything needed to serve it and to register it with the API server. */
export interface Webhook {
  readonly type: "validating" | "mutating" | "conversion";
  readonly name: string;
  readonly definition: ResourceDefinition<KubernetesObject>;
  /** Path at which it is served: `/validate/example.com/v1/backups`. */
  readonly path: string;
  /** For admission webhooks. */
  readonly admission?: AdmissionOptions | undefined;
  /**
   * Answers a review, both as JSON data.
   *
   * @throws ReviewError for an invalid review; otherwise the handler's error.
   */
  readonly review: (review: unknown) => Promise<object>;
}

/** The request is not a valid review. */
export class ReviewError extends Error {
  override readonly name = "ReviewError";
}

/** @throws ReviewError for another version or kind, or a missing request. */
export function checkReview(review: unknown, apiVersion: string, kind: string): void {
  const { apiVersion: itsVersion, kind: itsKind, request } = (review ?? {}) as Record<string, unknown>;
  if (itsVersion !== apiVersion || itsKind !== kind)
    throw new ReviewError(`expected ${apiVersion}, Kind=${kind}, got ${String(itsVersion)}, Kind=${String(itsKind)}`);
  if (typeof request !== "object" || request === null || typeof (request as { uid?: unknown }).uid !== "string")
    throw new ReviewError(`the ${kind} has no request with a uid`);
}
