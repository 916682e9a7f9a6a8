import { type CertificateSigningRequest, certificateSigningRequests } from "@kubewright/api";

import { builtInResource, standardVerbs } from "../../built-in-resource.js";
import { restoreMember } from "../../json.js";
import type { ResourceStrategy, UpdateStrategy } from "../../strategy.js";
import { humanDuration } from "../human-duration.js";
import { age, columns } from "../table-cells.js";
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
  printer: {
    columns: columns("Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"),
    cells: (request, nowMs) => {
      // An object that was decoded from empty data has no spec.
      const { signerName, username, expirationSeconds } = (request.spec ?? {}) as Partial<typeof request.spec>;
      return [
        request.metadata.name ?? "",
        age(request.metadata.creationTimestamp, nowMs),
        signerName || "<none>",
        username ?? "",
        expirationSeconds === undefined ? "<none>" : humanDuration(expirationSeconds * 1000),
        conditionCell(request.status),
      ];
    },
  },
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
  singular: "certificatesigningrequest",
  shortNames: ["csr"],
  listKind: "CertificateSigningRequestList",
  verbs: standardVerbs,
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
