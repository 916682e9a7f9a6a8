import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of certificates.k8s.io/v1. */
export const certificatesTypes: TypeDeclarations = {
  fields: {
    CertificateSigningRequest:
      "metadata:ObjectMeta spec!+:CertificateSigningRequestSpec status+:CertificateSigningRequestStatus | apiVersion kind",
    // Clients do not write `spec.extra`; the server sets it.
    CertificateSigningRequestSpec:
      "request!+:bytes username uid groups:[]string usages:[]string - signerName!+ expirationSeconds:int32 | extra:{}[]string",
    CertificateSigningRequestStatus: "conditions:[apply:type]CertificateSigningRequestCondition certificate:bytes",
    CertificateSigningRequestCondition: "type!+ reason message lastUpdateTime+:time lastTransitionTime+:time status!+",
  },
};
