import type { ApiRequest } from "@kubewright/transport";

/** Takes the measurements of one client's requests. Durations are in seconds, as the metrics have them. */
export interface RequestMetrics {
  /**
   * `rest_client_requests_total`, and when repeated `rest_client_request_retries_total`: every attempt, watches included.
   * `code` is undefined when there was no answer.
   */
  countAttempt(method: ApiRequest["method"], code: number | undefined, isRetry: boolean): void;
  /** `rest_client_rate_limiter_duration_seconds`: every token taken, also without a wait. */
  observeRateLimiter(method: ApiRequest["method"], seconds: number): void;
  /** `rest_client_request_size_bytes`: every answered attempt whose body crossed a wire. */
  observeRequestSize(method: ApiRequest["method"], bytes: number): void;
  /** `rest_client_response_size_bytes`: every call whose answer crossed a wire and was read to its end; no watches. */
  observeResponseSize(method: ApiRequest["method"], bytes: number): void;
  /** `rest_client_request_duration_seconds`: every call, rate limiting, repetitions and reading included; no watches. */
  observeDuration(method: ApiRequest["method"], seconds: number): void;
}
