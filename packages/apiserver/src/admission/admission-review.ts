export type { AdmissionRequest, AdmissionReview } from "@kubewright/api";

/** Upstream: `admission.k8s.io/v1` AdmissionResponse. */
export interface AdmissionResponse {
  readonly uid?: string;
  readonly allowed: boolean;
  readonly status?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  /** A base64-encoded JSON patch; only for mutating webhooks. {@link jsonPatchOf} creates it. */
  readonly patch?: string;
  readonly patchType?: "JSONPatch";
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** Returns the two members of a response that change the object. The operations follow RFC 6902. */
export function jsonPatchOf(operations: readonly object[]): Pick<AdmissionResponse, "patch" | "patchType"> {
  const bytes = new TextEncoder().encode(JSON.stringify(operations));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { patch: btoa(binary), patchType: "JSONPatch" };
}
