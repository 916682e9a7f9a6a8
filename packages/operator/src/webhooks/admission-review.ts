export type { AdmissionRequest, AdmissionReview, UserInfo } from "@kubewright/api";

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
