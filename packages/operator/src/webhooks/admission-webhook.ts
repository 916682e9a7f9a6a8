import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, mutableCopy } from "@kubewright/api";
import jsonPatch from "fast-json-patch";

import type { AdmissionReview, ReviewResponse, UserInfo } from "./admission-review.js";
import { Verdict } from "./verdict.js";
import { type AdmissionOperation, type AdmissionOptions, type Webhook, checkReview } from "./webhook.js";

interface RequestContext {
  readonly uid: string;
  /** Absent when the API server generates the name from `generateName`. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly user: UserInfo;
  /** Whether the request must have no side effects. */
  readonly dryRun: boolean;
}

interface Objects<T> {
  readonly CREATE: { readonly object: T; readonly oldObject: undefined };
  readonly UPDATE: { readonly object: T; readonly oldObject: T };
  readonly DELETE: { readonly object: undefined; readonly oldObject: T };
}

/** An admission request. `object` is the new state, `oldObject` the stored one. */
export type WebhookRequest<T, Operation extends AdmissionOperation> = {
  [Each in Operation]: RequestContext & Objects<T>[Each] & { readonly operation: Each };
}[Operation];

/** Validates a request. Without a verdict the request is allowed. */
export type ValidatingHandler<T extends KubernetesObject, Operation extends AdmissionOperation> = (
  request: WebhookRequest<DeepReadonly<T>, Operation>,
) => Verdict | undefined | void | Promise<Verdict | undefined | void>;

/**
 * Mutates the object, or returns another object or a verdict. The object is not validated yet: the API server checks
 * its type only afterwards.
 */
export type MutatingHandler<T extends KubernetesObject, Operation extends AdmissionOperation> = (
  request: WebhookRequest<T, Operation>,
) => T | Verdict | undefined | void | Promise<T | Verdict | undefined | void>;

const REVIEW = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } as const;

/** Defines a webhook that allows or denies requests. */
export function validatingWebhook<
  T extends KubernetesObject,
  Operation extends AdmissionOperation = "CREATE" | "UPDATE",
>(
  definition: ResourceDefinition<T>,
  handler: ValidatingHandler<NoInfer<T>, Operation>,
  options: AdmissionOptions<Operation> = {},
): Webhook {
  return admissionWebhook("validating", definition, options, async (review) => {
    const verdict = await handler(requestOf(review) as unknown as WebhookRequest<DeepReadonly<T>, Operation>);
    return responseOf(review, verdict ?? undefined);
  });
}

/** Defines a webhook that changes objects before they are validated and stored. */
export function mutatingWebhook<T extends KubernetesObject, Operation extends AdmissionOperation = "CREATE" | "UPDATE">(
  definition: ResourceDefinition<T>,
  handler: MutatingHandler<NoInfer<T>, Operation>,
  options: AdmissionOptions<Operation> = {},
): Webhook {
  return admissionWebhook("mutating", definition, options, async (review) => {
    const request = requestOf(review);
    const original = request.object;
    // The draft is compared with the original object.
    const draft = mutableCopy(original);
    const answer = await handler({ ...request, object: draft } as unknown as WebhookRequest<T, Operation>);
    const verdict = answer instanceof Verdict ? answer : undefined;
    const response = responseOf(review, verdict);
    if (!response.allowed || original === undefined) return response;
    const changed: unknown = answer instanceof Verdict ? draft : (answer ?? draft);
    return { ...response, ...patchBetween(original, changed) };
  });
}

function admissionWebhook(
  type: "validating" | "mutating",
  definition: ResourceDefinition<KubernetesObject>,
  admission: AdmissionOptions,
  answer: (review: AdmissionReview) => Promise<ReviewResponse>,
): Webhook {
  const { group, version, resource } = definition;
  const verb = type === "validating" ? "validate" : "mutate";
  const below = admission.subresource === undefined ? "" : `/${admission.subresource}`;
  return {
    type,
    name: admission.name ?? `${verb}.${resource}.${group === "" ? "core" : group}`,
    definition,
    // With its name, so that two webhooks of one resource have different paths.
    path: `/${verb}/${group === "" ? "core" : group}/${version}/${resource}${below}${admission.name === undefined ? "" : `/${admission.name}`}`,
    admission,
    review: async (review) => {
      checkReview(review, REVIEW.apiVersion, REVIEW.kind);
      return { ...REVIEW, response: await answer(review as AdmissionReview) };
    },
  };
}

type AnyRequest = RequestContext & {
  readonly operation: AdmissionReview["request"]["operation"];
  readonly object: object | undefined;
  readonly oldObject: object | undefined;
};

function requestOf({ request }: AdmissionReview): AnyRequest {
  const { uid, name, namespace, userInfo, dryRun = false, operation, object, oldObject } = request;
  return {
    uid,
    name: name || undefined,
    namespace: namespace || undefined,
    user: userInfo,
    dryRun,
    operation,
    object: object ?? undefined,
    oldObject: oldObject ?? undefined,
  };
}

function responseOf({ request: { uid } }: AdmissionReview, verdict: Verdict | undefined): ReviewResponse {
  const { allowed = true, status, warnings = [] } = verdict ?? {};
  return {
    uid,
    allowed,
    ...(status === undefined ? {} : { status }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function patchBetween(original: object, changed: unknown): Pick<ReviewResponse, "patch" | "patchType"> {
  // As serialized: without fields that are undefined.
  const operations = jsonPatch.compare(original, JSON.parse(JSON.stringify(changed)) as object);
  if (operations.length === 0) return {};
  return { patch: base64(JSON.stringify(operations)), patchType: "JSONPatch" };
}

function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
