import type { MetricFamilies } from "@kubewright/controller/metrics";

import { doublingBuckets } from "./controllers-metrics.js";

/** Records the metrics of this process's own endpoints. Durations are in seconds. */
export interface ServingMetrics {
  /** `authenticated_user_requests`, `authentication_attempts` and `authentication_duration_seconds`. */
  authenticated(result: AuthenticationResult, seconds: number, username?: string): void;
  /** `authorization_attempts_total` and `authorization_duration_seconds`. */
  authorized(result: AuthorizationResult, seconds: number): void;
  /** `apiserver_delegated_authn_*` and `apiserver_delegated_authz_*`: one review by the API server. */
  delegated(what: "authn" | "authz", code: string, seconds: number): void;
  /** `apiserver_client_certificate_expiration_seconds`: remaining lifetime of a presented certificate. */
  clientCertificate(secondsLeft: number): void;
}

export type AuthenticationResult = "success" | "failure" | "error";
export type AuthorizationResult = "allowed" | "denied" | "no-opinion" | "error";

/** Usernames with their own label value; all others are counted together. */
const NAMED_USERS = new Set(["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"]);
const HOUR = 3_600;
const DAY = 24 * HOUR;
const EXPIRATION_BUCKETS = [0, HOUR / 2, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY, 30 * DAY];
const LONG_EXPIRATION_BUCKETS = [90 * DAY, 180 * DAY, 360 * DAY];

/** @see kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/endpoints/filters/metrics.go and pkg/server/options */
export function servingMetrics(families: MetricFamilies): ServingMetrics {
  const users = families.counter({
    name: "authenticated_user_requests",
    help: "Counter of authenticated requests broken out by username.",
    labels: ["username"],
  });
  const attempts = families.counter({
    name: "authentication_attempts",
    help: "Counter of authenticated attempts.",
    labels: ["result"],
  });
  const duration = families.histogram({
    name: "authentication_duration_seconds",
    help: "Authentication duration in seconds broken out by result.",
    labels: ["result"],
    buckets: doublingBuckets(0.001, 15),
  });
  const authorizations = families.counter({
    name: "authorization_attempts_total",
    help: "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
    labels: ["result"],
  });
  const authorizationDuration = families.histogram({
    name: "authorization_duration_seconds",
    help: "Authorization duration in seconds broken out by result.",
    labels: ["result"],
    buckets: doublingBuckets(0.001, 15),
  });
  const authn = delegatedMetrics(families, "authn", "authentication");
  const authz = delegatedMetrics(families, "authz", "authorization");
  const expiration = families.histogram({
    name: "apiserver_client_certificate_expiration_seconds",
    help: "Distribution of the remaining lifetime on the certificate used to authenticate a request.",
    buckets: [...EXPIRATION_BUCKETS, ...LONG_EXPIRATION_BUCKETS],
  });
  return {
    authenticated(result, seconds, username) {
      if (username !== undefined) users.inc({ username: usernameLabel(username) });
      attempts.inc({ result });
      duration.observe({ result }, seconds);
    },
    authorized(result, seconds) {
      authorizations.inc({ result });
      authorizationDuration.observe({ result }, seconds);
    },
    delegated: (what, code, seconds) => (what === "authn" ? authn : authz)(code, seconds),
    clientCertificate: (secondsLeft) => expiration.observe(secondsLeft),
  };
}

function delegatedMetrics(families: MetricFamilies, short: string, long: string) {
  const total = families.counter({
    name: `apiserver_delegated_${short}_request_total`,
    help: "Number of HTTP requests partitioned by status code.",
    labels: ["code"],
  });
  const duration = families.histogram({
    name: `apiserver_delegated_${short}_request_duration_seconds`,
    help: `Request latency in seconds of delegated ${long}. Broken down by status code.`,
    labels: ["code"],
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  });
  return (code: string, seconds: number): void => {
    total.inc({ code });
    duration.observe({ code }, seconds);
  };
}

function usernameLabel(username: string): string {
  if (NAMED_USERS.has(username)) return username;
  return username.includes("@") ? "email_id" : "other";
}
