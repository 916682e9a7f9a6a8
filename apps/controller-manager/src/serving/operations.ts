import type { RequestMetrics } from "@kubewright/client";
import type { Clock, Random } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { GraphDump } from "@kubewright/garbage-collector";

import type { FeatureState } from "../metrics/build-metrics.js";
import { parseLabelAllowList } from "../metrics/label-allow-list.js";
import { ManagerMetrics } from "../metrics/manager-metrics.js";
import type { ProcessStats } from "../metrics/process-metrics.js";
import type { ControllerManagerOptions } from "../options.js";
import { type Build, KUBERNETES_VERSION, goPlatform } from "../user-agent.js";
import { configzRoute } from "./configz.js";
import { type Verbosity, debugFlagRoutes } from "./debug-flags.js";
import { graphRoutes } from "./graph-routes.js";
import { ManagerHealth } from "./manager-health.js";
import { metricsRoutes } from "./metrics-routes.js";
import { type Route, Router } from "./router.js";
import { flagzRoute, statuszRoute } from "./z-pages.js";

export interface OperationsOptions {
  readonly options: ControllerManagerOptions;
  readonly build: Build;
  readonly nodeVersion: string;
  /** Every known feature gate. */
  readonly features: readonly FeatureState[];
  /** `host:port` of the API server, a label of request metrics. */
  readonly server: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly verbosity: Verbosity;
  readonly readProcess: () => ProcessStats;
  /** Data of `--allow-metric-labels-manifest`. */
  readonly labelManifest?: Readonly<Record<string, unknown>>;
}

/** Metrics, health and routes of a manager. Create one per process. */
export class Operations {
  readonly metrics: ManagerMetrics;
  readonly health: ManagerHealth;
  readonly router: Router;
  /** Metrics of API clients. */
  readonly requests: RequestMetrics;

  /** @throws Error when `--allow-metric-labels` or its manifest is invalid. */
  constructor({ options, features, clock, random, ...given }: OperationsOptions) {
    const build = {
      version: given.build.version,
      kubernetesVersion: KUBERNETES_VERSION,
      nodeVersion: given.nodeVersion,
      platform: goPlatform(given.build),
    };
    this.metrics = new ManagerMetrics({
      build,
      features,
      readProcess: given.readProcess,
      disabled: options.disabledMetrics,
      allowedLabels: parseLabelAllowList(options.allowMetricLabels, given.labelManifest),
    });
    this.requests = this.metrics.common.restClient(given.server);
    this.health = new ManagerHealth({ logger: given.logger, metrics: this.metrics.health });
    this.router = new Router();
    this.router.add(...this.health.routes, ...metricsRoutes(this.metrics), configzRoute(options));
    const isOn = (gate: string): boolean => features.find(({ name }) => name === gate)?.enabled ?? false;
    if (isOn("ComponentFlagz")) this.router.add(flagzRoute(options, random.fork("flagz")));
    if (isOn("ComponentStatusz")) {
      const listedPaths = () => this.router.listedPaths;
      this.router.add(statuszRoute({ build, clock, random: random.fork("statusz"), listedPaths }));
    }
    if (options.profiling) this.router.add(...debugFlagRoutes(given.verbosity));
  }

  /** Adds a route that only some managers have. */
  addRoute(route: Route): void {
    this.router.add(route);
  }

  /** Adds the graph route of a running garbage collector. */
  addGarbageCollector(collector: { dumpGraph(uids: readonly string[]): GraphDump }): void {
    this.router.add(...graphRoutes((uids) => collector.dumpGraph(uids)));
  }
}
