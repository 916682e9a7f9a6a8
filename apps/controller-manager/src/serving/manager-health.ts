import { type HealthMetrics, HealthChecks, type HealthReport, type Logger } from "@kubewright/controller";
import type { ShardMember } from "@kubewright/sharding";

import type { HttpReply, HttpRequest } from "./http-message.js";
import { notFoundReply, textReply } from "./http-message.js";
import type { Route } from "./router.js";

export interface ManagerHealthOptions {
  readonly logger: Logger;
  readonly metrics?: HealthMetrics | undefined;
}

/** How long after its Lease has expired a leader still counts as healthy. */
const LEASE_TOLERANCE_MS = 20_000;

/** State of the process. It is `starting` until it leads, or knows the leader. */
type Readiness = "starting" | "standing by" | "filling caches" | "ready" | "stopping";

/**
 * Serves `/healthz`, `/livez` and `/readyz`. `/livez` is an alias of `/healthz`. `/readyz`, which
 * kube-controller-manager does not have, passes on standbys, and on a leader once all caches are filled.
 */
export class ManagerHealth {
  readonly #live: HealthChecks;
  readonly #ready: HealthChecks;
  #readiness: Readiness = "starting";

  constructor({ logger, metrics }: ManagerHealthOptions) {
    // Frequent probes must not fill the log: the reasons of failed checks are logged at debug level.
    const quiet: Logger = {
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.debug(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
      error: (fields, message) => logger.error(fields, message),
    };
    const options = { logger: quiet, ...(metrics === undefined ? {} : { metrics }) };
    this.#live = new HealthChecks(options);
    this.#ready = new HealthChecks(options);
    this.#ready.add("informer-sync", () =>
      this.#isIn("starting", "filling caches") ? new Error(`not ready: ${this.#readiness}`) : undefined,
    );
    this.#ready.add("shutdown", () => (this.#isIn("stopping") ? new Error("process is shutting down") : undefined));
  }

  /** Adds the check that a leader has renewed its Lease. */
  watchLeader(elector: { checkHealth(toleranceMs: number): Error | undefined }): void {
    this.#live.add("leaderElection", () => elector.checkHealth(LEASE_TOLERANCE_MS));
  }

  /**
   * Adds the checks of a replica that shares work: its Lease is valid, the caches of its buckets are filled, and every
   * bucket has an owner.
   */
  trackShardMember(member: Pick<ShardMember, "isReady" | "holdsLease" | "bucketsWithoutOwner">): void {
    if (!this.#isIn("stopping")) this.#readiness = "standing by";
    this.#ready.add("sharding", () => {
      if (member.isReady) return undefined;
      return new Error(member.holdsLease ? "not ready: filling caches of buckets" : "not ready: no lease");
    });
    this.#ready.add("bucket-owners", () => {
      const free = member.bucketsWithoutOwner;
      return free.length === 0 ? undefined : new Error(`not ready: no owner of buckets ${free.join(", ")}`);
    });
  }

  /** Adds one check for each running controller. They pass while the process responds. */
  addControllers(names: readonly string[]): void {
    for (const name of names.toSorted()) this.#live.add(name);
  }

  /** Another process leads. */
  setStandingBy(): void {
    if (this.#isIn("starting")) this.#readiness = "standing by";
  }

  /** The controllers run, and are ready when `wait` resolves. */
  async trackCacheSync(wait: () => Promise<unknown>): Promise<void> {
    if (this.#isIn("stopping")) return;
    this.#readiness = "filling caches";
    try {
      await wait();
    } catch {
      return;
    }
    if (this.#isIn("filling caches")) this.#readiness = "ready";
  }

  /** The process is shutting down. */
  setStopping(): void {
    this.#readiness = "stopping";
  }

  #isIn(...states: readonly Readiness[]): boolean {
    return states.includes(this.#readiness);
  }

  get routes(): readonly Route[] {
    const whole = (name: string, checks: HealthChecks): Route => ({
      path: `/${name}`,
      listed: name === "healthz",
      handle: async ({ query }) => reply(await checks.report(name, query)),
    });
    const parts = (name: string, checks: HealthChecks): Route => ({
      path: `/${name}/`,
      prefix: true,
      handle: (request) => partReply(request, name, checks),
    });
    return [
      whole("healthz", this.#live),
      whole("livez", this.#live),
      parts("livez", this.#live),
      whole("readyz", this.#ready),
      parts("readyz", this.#ready),
    ];
  }
}

async function partReply({ path }: HttpRequest, endpoint: string, checks: HealthChecks): Promise<HttpReply> {
  const report = await checks.reportOne(endpoint, path.slice(endpoint.length + 2));
  return report === undefined ? notFoundReply() : reply(report);
}

function reply({ status, body }: HealthReport): HttpReply {
  return textReply(status, body);
}
