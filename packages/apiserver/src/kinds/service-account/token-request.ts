import { type KubernetesObject, type Pod, type TokenRequest, formatTime } from "@kubewright/api";

import type { ApiCall } from "../../api-call.js";
import { badRequest, conflict, invalid, notFound } from "../../api-error.js";
import { type Awaitable, andThen } from "../../awaitable.js";
import type { BoundObject } from "../../authentication/service-account-tokens.js";
import { FieldErrors } from "../../field-errors.js";
import { type Reply, valueReply } from "../../reply.js";
import { readWriteOptions } from "../../write-options.js";
import { admitToNamespace } from "../../registry/namespace-lifecycle.js";
import { readSubresourceBody } from "../../handlers/subresource-body.js";

const MIN_SECONDS = 600;
const DEFAULT_SECONDS = 3600;
const MAX_SECONDS = 2 ** 32;
const RESOURCES: Readonly<Record<string, { resource: string; namespaced: boolean }>> = {
  Pod: { resource: "pods", namespaced: true },
  Secret: { resource: "secrets", namespaced: true },
  Node: { resource: "nodes", namespaced: false },
};

/**
 * POST of `serviceaccounts/token`: issues a token that authenticates as the account. Upstream:
 * `pkg/registry/core/serviceaccount/storage/token.go`.
 */
export function requestToken(call: ApiCall): Awaitable<Reply> {
  const options = readWriteOptions(call, "CreateOptions");
  const request = readSubresourceBody(call, "TokenRequest") as TokenRequest;
  const { name } = call.target;
  admitToNamespace(call, name);
  const admitted = call.server.admission.admit(call, options, request, (sent) => {
    checkNames(call, sent);
    accountOf(call);
    validateExpiration(sent.spec?.expirationSeconds ?? DEFAULT_SECONDS, name);
  });
  return andThen(admitted, (sent) => issue(call, sent));
}

/** @throws ApiError 404 */
function accountOf({ target: { resource, namespace, name } }: ApiCall): KubernetesObject {
  const account = resource.storage.get(namespace, name);
  if (account === undefined) throw notFound(resource, name);
  return account.object;
}

function issue(call: ApiCall, request: TokenRequest): Reply {
  const { namespace, name } = call.target;
  const { metadata } = request;
  const account = accountOf(call);
  const { serviceAccounts } = call.server.access;
  const { audiences, expirationSeconds = DEFAULT_SECONDS, boundObjectRef = null } = request.spec ?? {};
  const terms = {
    audiences: (audiences ?? []).length > 0 ? audiences! : [serviceAccounts.issuer],
    expirationSeconds,
    boundTo: boundObject(call, request),
  };
  const nowMs = call.server.clock.now();
  return valueReply(201, {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { ...metadata, name, namespace, creationTimestamp: formatTime(nowMs) },
    spec: { audiences: terms.audiences, expirationSeconds, boundObjectRef },
    status: {
      token: serviceAccounts.issue(account, terms),
      expirationTimestamp: formatTime(nowMs + expirationSeconds * 1000),
    },
  });
}

function checkNames({ target: { name, namespace } }: ApiCall, { metadata }: TokenRequest): void {
  const errors = new FieldErrors();
  if (metadata.name && metadata.name !== name)
    errors.invalid("metadata.name", metadata.name, "must match the service account name if specified");
  if (metadata.namespace && metadata.namespace !== namespace)
    errors.invalid("metadata.namespace", metadata.namespace, "must match the service account namespace if specified");
  throwIfInvalid(errors, name);
}

function validateExpiration(expirationSeconds: number, name: string): void {
  const errors = new FieldErrors();
  if (expirationSeconds < MIN_SECONDS)
    errors.invalid("spec.expirationSeconds", expirationSeconds, "may not specify a duration less than 10 minutes");
  if (expirationSeconds > MAX_SECONDS)
    errors.invalid("spec.expirationSeconds", expirationSeconds, "may not specify a duration larger than 2^32 seconds");
  throwIfInvalid(errors, name);
}

function throwIfInvalid(errors: FieldErrors, name: string): void {
  if (!errors.isEmpty) throw invalid({ group: "authentication.k8s.io", kind: "TokenRequest" }, name, errors);
}

/**
 * Returns the object that the token is bound to, if any.
 *
 * @throws ApiError 400 for a kind that tokens cannot be bound to, or a pod of another account, 404 when the object does not exist, 409 when its UID
 * differs
 */
function boundObject(call: ApiCall, { spec }: TokenRequest): BoundObject | undefined {
  const ref = spec?.boundObjectRef;
  if (ref == null) return undefined;
  const { kind = "", name = "", uid = "" } = ref;
  const bindable = Object.hasOwn(RESOURCES, kind) ? RESOURCES[kind] : undefined;
  if (bindable === undefined)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(call.target.name)} to type ${ref.apiVersion ?? ""}, Kind=${kind}`,
    );
  const resource = call.server.registry.find("", "v1", bindable.resource)!;
  const stored = resource.storage.get(bindable.namespaced ? call.target.namespace : "", name);
  if (stored === undefined) throw notFound(resource, name);
  if (kind === "Pod" && ((stored.object as Pod).spec?.serviceAccountName || "default") !== call.target.name)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(call.target.name)} to pod running with different serviceaccount name.`,
    );
  const actual = stored.object.metadata.uid ?? "";
  if (uid !== "" && uid !== actual) {
    const reason = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict(resource, name, reason, kind, kind);
  }
  return { kind: kind as BoundObject["kind"], name, uid: actual };
}
