import type { ApiRequest } from "@kubewright/transport";

/** Records the measurements of one client's requests. Durations are in seconds, like the metrics. */
export interface RequestMetrics {
  /**
   * `rest_client_requests_total`, and for a retry also `rest_client_request_retries_total`: every attempt, watches
   * included. `code` is `undefined` if there was no response.
   */
  countAttempt(method: ApiRequest["method"], code: number | undefined, isRetry: boolean): void;
  /** `rest_client_rate_limiter_duration_seconds`: every token taken, also without a wait. */
  observeRateLimiter(method: ApiRequest["method"], seconds: number): void;
  /** `rest_client_request_size_bytes`: every attempt that got a response and whose body was sent over a wire. */
  observeRequestSize(method: ApiRequest["method"], bytes: number): void;
  /**
   * `rest_client_response_size_bytes`: every call whose response came over a wire and was read to its end; no watches.
   */
  observeResponseSize(method: ApiRequest["method"], bytes: number): void;
  /** `rest_client_request_duration_seconds`: every call, including rate limiting, retries and reading; no watches. */
  observeDuration(method: ApiRequest["method"], seconds: number): void;
}
