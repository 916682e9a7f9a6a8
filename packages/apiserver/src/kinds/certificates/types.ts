import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

/** The types of certificates.k8s.io/v1. */
export const certificatesTypes: TypeDeclarations = {
  fields,
  rules: {
    patchMergeKeys: {},
    listTypes: { "CertificateSigningRequestStatus.conditions": "type" },
    presentWhenZero: {
      "CertificateSigningRequest.spec": {},
      "CertificateSigningRequest.status": {},
      "CertificateSigningRequestSpec.request": null,
      "CertificateSigningRequestSpec.signerName": "",
      "CertificateSigningRequestCondition.type": "",
      "CertificateSigningRequestCondition.status": "",
      "CertificateSigningRequestCondition.lastUpdateTime": null,
      "CertificateSigningRequestCondition.lastTransitionTime": null,
    },
  },
  fieldNumbers: {
    CertificateSigningRequest: "metadata,spec,status",
    // Clients do not write `spec.extra`; the server sets it.
    CertificateSigningRequestSpec: "request,username,uid,groups,usages,,signerName,expirationSeconds",
    CertificateSigningRequestStatus: "conditions,certificate",
    CertificateSigningRequestCondition: "type,reason,message,lastUpdateTime,lastTransitionTime,status",
  },
};
