import type { KubernetesObject, LabelSelector, ResourceDefinition } from "@kubewright/api";

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

/** Which requests the API server asks an admission webhook about, and what it does without an answer. */
export interface AdmissionOptions<Operation extends AdmissionOperation = AdmissionOperation> {
  /** With at least two dots, and one of its own in its configuration. Default: `validate.backups.example.com`, or `mutate.…`. */
  readonly name?: string | undefined;
  /** Default: `CREATE` and `UPDATE`. */
  readonly operations?: readonly Operation[] | undefined;
  /** Such as `status`. Default: the objects themselves. */
  readonly subresource?: string | undefined;
  /** What happens when it cannot be asked. Default: `Fail`. */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  /** How long the API server waits, 1 to 30. Default: 10. */
  readonly timeoutSeconds?: number | undefined;
  /** Whether asking it changes anything elsewhere; one that does looks at `dryRun`. Default: `None`. */
  readonly sideEffects?: "None" | "NoneOnDryRun" | undefined;
  /** Of a mutating one: whether it is asked again when others have changed the object after it. Default: `Never`. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded" | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  /** CEL about `object`, `oldObject` and `request`: it is asked only when all are true. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[] | undefined;
}

/** Something that the API server asks: a function with what is needed to serve it and to tell the API server of it. */
export interface Webhook {
  readonly type: "validating" | "mutating" | "conversion";
  readonly name: string;
  readonly definition: ResourceDefinition<KubernetesObject>;
  /** Where it is served: `/validate/example.com/v1/backups`. */
  readonly path: string;
  /** Of admission webhooks. */
  readonly admission?: AdmissionOptions | undefined;
  /**
   * Answers a review, as JSON data.
   *
   * @throws ReviewError for what is no review of its kind. @throws whatever the function does: there is no answer then.
   */
  readonly review: (review: unknown) => Promise<object>;
}

/** What was sent is no review. */
export class ReviewError extends Error {
  override readonly name = "ReviewError";
}

/** @throws ReviewError when it is none of that version, or has no request. */
export function checkReview(review: unknown, apiVersion: string, kind: string): void {
  const { apiVersion: itsVersion, kind: itsKind, request } = (review ?? {}) as Record<string, unknown>;
  if (itsVersion !== apiVersion || itsKind !== kind)
    throw new ReviewError(`expected ${apiVersion}, Kind=${kind}, got ${String(itsVersion)}, Kind=${String(itsKind)}`);
  if (typeof request !== "object" || request === null || typeof (request as { uid?: unknown }).uid !== "string")
    throw new ReviewError(`the ${kind} has no request with a uid`);
}
