import type { RequestMetrics } from "@kubewright/client";

import type { MetricFamilies } from "./metric-families.js";

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const BYTES = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

/**
 * Creates the `rest_client_*` metrics of requests. Returns a function that creates a client's metrics for the
 * `host:port` of its server. The metrics of Go's transport cache and exec plugins have no counterpart (component-base
 * metrics/prometheus/restclient).
 */
export function restClientMetrics(families: MetricFamilies): (host: string) => RequestMetrics {
  const labels = ["verb", "host"] as const;
  const duration = families.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb, and host.",
    labels,
    buckets: SECONDS,
  });
  const rateLimiter = families.histogram({
    name: "rest_client_rate_limiter_duration_seconds",
    help: "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    labels,
    buckets: SECONDS,
  });
  const requestSize = families.histogram({
    name: "rest_client_request_size_bytes",
    help: "Request size in bytes. Broken down by verb and host.",
    labels,
    buckets: BYTES,
  });
  const responseSize = families.histogram({
    name: "rest_client_response_size_bytes",
    help: "Response size in bytes. Broken down by verb and host.",
    labels,
    buckets: BYTES,
  });
  const requests = families.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labels: ["code", "method", "host"],
  });
  const retries = families.counter({
    name: "rest_client_request_retries_total",
    help: "Number of request retries, partitioned by status code, verb, and host.",
    labels: ["code", "verb", "host"],
  });
  return (host) => ({
    countAttempt(method, status, repeated) {
      const code = status === undefined ? "<error>" : String(status);
      requests.inc({ code, method, host });
      if (repeated) retries.inc({ code, verb: method, host });
    },
    observeRateLimiter: (verb, seconds) => rateLimiter.observe({ verb, host }, seconds),
    observeRequestSize: (verb, bytes) => requestSize.observe({ verb, host }, bytes),
    observeResponseSize: (verb, bytes) => responseSize.observe({ verb, host }, bytes),
    observeDuration: (verb, seconds) => duration.observe({ verb, host }, seconds),
  });
}
