/** Upstream: `admission.k8s.io/v1`. */
export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: AdmissionRequest;
}

/** Upstream: `admission.k8s.io/v1` AdmissionRequest. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly userInfo: { readonly username: string; readonly uid?: string; readonly groups?: readonly string[] };
  /** `null` for DELETE. For a subresource: the object sent to it, such as a `Scale`, `Eviction` or `PodExecOptions`. */
  readonly object: Record<string, unknown> | null;
  /** `null` for CREATE. */
  readonly oldObject: Record<string, unknown> | null;
  readonly dryRun: boolean;
  /** `null` for CONNECT. */
  readonly options: Record<string, unknown> | null;
}

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
