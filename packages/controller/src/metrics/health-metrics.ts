import type { HealthMetrics } from "../health-checks.js";
import type { MetricFamilies } from "./metric-families.js";

/**
 * Creates the `kubernetes_healthcheck*` metrics. Upstream serves them separately, at `/metrics/slis`, so give them
 * their own registry.
 */
export function healthMetrics(families: MetricFamilies): HealthMetrics {
  const latest = families.gauge({
    name: "kubernetes_healthcheck",
    help: "This metric records the result of a single healthcheck.",
    stability: "STABLE",
    labels: ["name", "type"],
  });
  const total = families.counter({
    name: "kubernetes_healthchecks_total",
    help: "This metric records the results of all healthcheck.",
    stability: "STABLE",
    labels: ["name", "type", "status"],
  });
  return {
    checked(name, type, passed) {
      latest.set({ name, type }, passed ? 1 : 0);
      total.inc({ name, type, status: passed ? "success" : "error" });
    },
  };
}
