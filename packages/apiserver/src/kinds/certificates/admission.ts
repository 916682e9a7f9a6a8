import { type CertificateSigningRequest, certificateSigningRequests, formatTime } from "@kubewright/api";

import { forbidden } from "../../api-error.js";
import { jsonEqual } from "../../json.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.js";

type Status = NonNullable<CertificateSigningRequest["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];

/**
 * Sets the user of a request and the times of its conditions, and requires permission to `approve` or `sign` for the
 * signer.
 *
 * Upstream: the strategy of `pkg/registry/certificates/certificates`, which knows the user and the time, and
 * `plugin/pkg/admission/certificates/{approval,signing}`.
 */
export const certificateAdmission: AdmissionPlugin = {
  concerns: ({ group, resource }) =>
    group === certificateSigningRequests.group && resource === certificateSigningRequests.resource,
  mutate(attributes) {
    const request = attributes.object as CertificateSigningRequest;
    if (attributes.operation === "CREATE") setUser(request, attributes);
    else if (attributes.subresource !== "") setConditionTimes(request, attributes);
  },
  validate(attributes) {
    const { operation, subresource, object, oldObject } = attributes;
    if (operation !== "UPDATE" || subresource === "") return;
    const stored = oldObject as CertificateSigningRequest;
    if (subresource === "approval") requireSignerPermission(attributes, stored, "approve");
    else if (isSigning((object as CertificateSigningRequest).status, stored.status))
      requireSignerPermission(attributes, stored, "sign");
  },
};

function setUser({ spec }: CertificateSigningRequest, { user }: AdmissionAttributes): void {
  const { username, uid, groups, extra } = user;
  spec.username = username;
  if (uid === undefined) delete spec.uid;
  else spec.uid = uid;
  if (groups.length === 0) delete spec.groups;
  else spec.groups = [...groups];
  if (extra === undefined) delete spec.extra;
  else spec.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}

/** Upstream: `populateConditionTimestamps`. */
function setConditionTimes({ status }: CertificateSigningRequest, { oldObject, server }: AdmissionAttributes): void {
  const oldConditions = (oldObject as CertificateSigningRequest).status?.conditions ?? [];
  if (status?.conditions === undefined || status.conditions === oldConditions) return;
  const now = formatTime(server.clock.now());
  status.conditions = status.conditions.map((condition): Condition => {
    const same = oldConditions.find(({ type, status: state }) => type === condition.type && state === condition.status);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    };
  });
}

/** Whether a status update issues the certificate or changes the failure. */
function isSigning(status: Status = {}, stored: Status = {}): boolean {
  return status.certificate !== stored.certificate || !jsonEqual(failedConditions(status), failedConditions(stored));
}

function failedConditions({ conditions = [] }: Status): Condition[] {
  return conditions.filter(({ type }) => type === "Failed");
}

/**
 * Requires permission for the signer or for all signers of its domain.
 *
 * @throws ApiError 403
 */
function requireSignerPermission(
  attributes: AdmissionAttributes,
  { spec }: CertificateSigningRequest,
  verb: string,
): void {
  const { server, user, resource, name } = attributes;
  const [domain = ""] = spec.signerName.split("/");
  const isAllowed = [spec.signerName, `${domain}/*`].some((signer) => {
    const { group, version } = certificateSigningRequests;
    const requested = { group, version, resource: "signers", subresource: "", namespace: "", name: signer };
    return server.access.decide({ user, verb, path: "", resource: requested }).allowed;
  });
  if (isAllowed) return;
  throw forbidden(
    resource,
    name,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(spec.signerName)}`,
  );
}
