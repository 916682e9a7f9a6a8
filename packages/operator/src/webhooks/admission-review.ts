/** Request of an admission webhook. Upstream: `admission.k8s.io/v1`. */
export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: ReviewedRequest;
}

export interface ReviewedRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly userInfo: UserInfo;
  /** `null` for a delete. */
  readonly object?: object | null;
  /** `null` for a create. */
  readonly oldObject?: object | null;
  readonly dryRun?: boolean;
  readonly options?: object | null;
}

/** The user of the request. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Response of an admission webhook. */
export interface ReviewResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  /** A JSON patch in base64. */
  readonly patch?: string;
  readonly patchType?: "JSONPatch";
  readonly warnings?: readonly string[];
}

/** Request of a conversion webhook. Upstream: `apiextensions.k8s.io/v1`. */
export interface ConversionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly object[];
  };
}

export interface ConversionResponse {
  readonly uid: string;
  readonly result: { readonly status: "Success" | "Failure"; readonly message?: string };
  readonly convertedObjects: readonly object[];
}
