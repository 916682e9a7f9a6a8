import type { ApiServer, AuditRecord, PathResponse } from "@kubewright/cluster";
import type { ShardMetrics } from "@kubewright/apiserver";
import { MetricFamilies } from "@kubewright/controller/metrics";
import { Registry } from "prom-client";

import type { ServerFeature } from "./server-feature-gates.js";

export const METRICS_PATH = "/metrics";

/** Upstream's verb labels: HTTP methods, with the kinds of reads distinguished. */
const VERBS: Readonly<Record<string, string>> = { create: "POST", update: "PUT", get: "GET" };

/**
 * Counts and times requests as kube-apiserver does (`apiserver_request_total`, `apiserver_request_duration_seconds`),
 * and reports its features (`kubernetes_feature_enabled`).
 */
export class ApiMetrics {
  readonly #registry = new Registry();
  readonly #total;
  readonly #duration;
  /** Defined when sharded watches are enabled. */
  readonly shards: ShardMetrics | undefined;

  constructor(features: readonly ServerFeature[]) {
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
    const enabled = families.gauge({
      name: "kubernetes_feature_enabled",
      help: "This metric records the data about the stage and enablement of a k8s feature.",
      stability: "BETA",
      labels: ["name", "stage"],
    });
    for (const { name, stage, enabled: isOn } of features) enabled.set({ name, stage }, isOn ? 1 : 0);
    const isSharded = features.some(({ name, enabled: isOn }) => name === "ShardedListAndWatch" && isOn);
    this.shards = isSharded ? shardMetrics(families) : undefined;
  }

  follow(apiServer: ApiServer): void {
    apiServer.observe((record) => this.#count(record));
  }

  async serve(): Promise<PathResponse> {
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

function shardMetrics(families: MetricFamilies): ShardMetrics {
  const watches = families.gauge({
    name: "apiserver_watch_shards_total",
    help: "Number of active sharded watches, by group and resource.",
    labels: ["group", "resource"],
  });
  const filtered = families.counter({
    name: "apiserver_watch_filtered_events_total",
    help: "Number of watch events that were filtered out by a shard selector, by group and resource.",
    labels: ["group", "resource"],
  });
  return {
    watchOpened: ({ group, resource }) => watches.inc({ group, resource }),
    // Decrements twice, like upstream: dashboards built on this metric depend on it.
    watchEnded: ({ group, resource }) => watches.dec({ group, resource }, 2),
    eventFiltered: ({ group, resource }) => filtered.inc({ group, resource }),
  };
}
