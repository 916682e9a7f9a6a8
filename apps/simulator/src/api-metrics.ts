import type { ApiServer, AuditRecord, PathAnswer } from "@kubewright/cluster";
import { MetricFamilies } from "@kubewright/controller/metrics";
import { Registry } from "prom-client";

export const METRICS_PATH = "/metrics";

/** Upstream's words for verbs: HTTP's, with the reads told apart. */
const VERBS: Readonly<Record<string, string>> = { create: "POST", update: "PUT", get: "GET" };

/** Counts and times requests as kube-apiserver does (`apiserver_request_total`, `apiserver_request_duration_seconds`). */
export class ApiMetrics {
  readonly #registry = new Registry();
  readonly #total;
  readonly #duration;

  constructor() {
    const families = new MetricFamilies({ registry: this.#registry });
    this.#total = families.counter({
      name: "apiserver_request_total",
      help: "Counter of apiserver requests broken out for each verb, group, version, resource, scope, component, and HTTP response code.",
      stability: "STABLE",
      labels: ["verb", "group", "version", "resource", "subresource", "scope", "component", "code"],
    });
    this.#duration = families.histogram({
      name: "apiserver_request_duration_seconds",
      help: "Response latency distribution in seconds for each verb, group, version, resource, subresource, scope and component.",
      stability: "STABLE",
      labels: ["verb", "group", "version", "resource", "subresource", "scope", "component"],
      buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
    });
  }

  follow(apiServer: ApiServer): void {
    apiServer.observe((record) => this.#count(record));
  }

  async serve(): Promise<PathAnswer> {
    return { status: 200, contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #count({ verb, group, version, resource, subresource, namespace, name, code, durationMs }: AuditRecord): void {
    const labels = {
      verb: VERBS[verb] ?? verb.toUpperCase(),
      group,
      version,
      resource,
      subresource,
      scope:
        resource === ""
          ? ""
          : name !== "" || verb === "create"
            ? "resource"
            : namespace === ""
              ? "cluster"
              : "namespace",
      component: "apiserver",
    };
    this.#total.inc({ ...labels, code: String(code) });
    if (verb !== "watch") this.#duration.observe(labels, durationMs / 1000);
  }
}
