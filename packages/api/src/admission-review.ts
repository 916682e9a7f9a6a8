/** The user of a request. Upstream: `authentication.k8s.io/v1` UserInfo. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Request of an admission webhook. Upstream: `admission.k8s.io/v1` AdmissionReview. */
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
  readonly userInfo: UserInfo;
  /** `null` for DELETE. For a subresource: the object sent to it, such as a `Scale`, `Eviction` or `PodExecOptions`. */
  readonly object: Record<string, unknown> | null;
  /** `null` for CREATE. */
  readonly oldObject: Record<string, unknown> | null;
  readonly dryRun?: boolean;
  /** `null` for CONNECT. */
  readonly options: Record<string, unknown> | null;
}
