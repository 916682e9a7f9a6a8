import { type CertificateSigningRequest, type KubernetesObject, certificateSigningRequests } from "@kubewright/api";

import { builtInResource } from "../../built-in-resource.js";
import { restoreMember } from "../../json.js";
import type { ResourceStrategy, UpdateStrategy } from "../../strategy.js";
import { humanDuration } from "../human-duration.js";
import { ageCell, table } from "../table-cells.js";
import { certificateAdmission } from "./admission.js";
import { certificatesTypes } from "./types.js";
import { validateChange, validateSigningRequest } from "./validation.js";

/**
 * Stores requests, approvals and certificates. The server has no signer.
 *
 * Upstream: `pkg/registry/certificates/certificates`.
 */
export const certificateSigningRequestStrategy: ResourceStrategy<CertificateSigningRequest> = {
  nameFormat: "path-segment",
  prepareForCreate(request) {
    request.status = {};
  },
  prepareForUpdate(request, stored) {
    restoreMember(request, stored, "spec");
    restoreMember(request, stored, "status");
  },
  validateCreate: validateSigningRequest,
  validateUpdate: (request, stored, errors) => validateChange(request, stored, "main", errors),
  status: {
    prepareForUpdate: (request, stored) => restoreMember(request, stored, "spec"),
    validateUpdate: (request, stored, errors) => validateChange(request, stored, "status", errors),
  },
  fieldSelectors: { "spec.signerName": ({ spec }) => spec.signerName },
  // An object that was decoded from empty data has no spec.
  printer: table<Partial<CertificateSigningRequest> & KubernetesObject>({
    Age: ageCell,
    SignerName: ({ spec }) => spec?.signerName || "<none>",
    Requestor: ({ spec }) => spec?.username ?? "",
    RequestedDuration: ({ spec }) =>
      spec?.expirationSeconds === undefined ? "<none>" : humanDuration(spec.expirationSeconds * 1000),
    Condition: ({ status }) => conditionCell(status),
  }),
};

/** `certificatesigningrequests/approval`: updates conditions only. */
const approvalStrategy: UpdateStrategy<CertificateSigningRequest> = {
  prepareForUpdate(request, stored) {
    restoreMember(request, stored, "spec");
    const { conditions } = request.status ?? {};
    const { conditions: _former, ...rest } = stored.status ?? {};
    request.status = { ...rest, ...(conditions === undefined ? {} : { conditions }) };
  },
  validateUpdate: (request, stored, errors) => validateChange(request, stored, "approval", errors),
};

export const certificateSigningRequestResource = builtInResource<CertificateSigningRequest>({
  definition: certificateSigningRequests,
  shortNames: ["csr"],
  types: certificatesTypes,
  strategy: certificateSigningRequestStrategy,
  subresources: { approval: { strategy: approvalStrategy } },
  admission: certificateAdmission,
});

function conditionCell(status: CertificateSigningRequest["status"]): string {
  const types = (status?.conditions ?? []).map(({ type }) => type);
  const decision = types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending";
  return [decision, ...(types.includes("Failed") ? ["Failed"] : []), ...(status?.certificate ? ["Issued"] : [])].join(
    ",",
  );
}
