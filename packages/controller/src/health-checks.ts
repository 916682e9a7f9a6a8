import { errorMessage } from "@kubewright/client";
import { type Logger, silentLogger } from "@kubewright/clock";

import { type HealthReport, type HealthResult, renderHealth } from "./health-report.js";

/** Returns or throws an Error when unhealthy, and returns nothing when healthy. */
export type HealthCheck = () => Error | undefined | void | Promise<Error | undefined | void>;

/** Records `kubernetes_healthcheck` and `kubernetes_healthchecks_total`. */
export interface HealthMetrics {
  /** @param type - The endpoint of the request, for example `healthz`. */
  checked(name: string, type: string, passed: boolean): void;
}

export interface HealthChecksOptions {
  /** Logs why a check failed. The response omits the reason, because every client may read it. */
  readonly logger?: Logger;
  readonly metrics?: HealthMetrics;
}

/** Passes as long as the process responds. */
const PING = "ping";

/**
 * The named checks of `/healthz`, `/livez` or `/readyz`. Without any check it has the check `ping`.
 *
 * @see kubernetes v1.36 apiserver pkg/server/healthz/healthz.go
 */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #logger: Logger;
  readonly #metrics: HealthMetrics | undefined;

  constructor({ logger = silentLogger, metrics }: HealthChecksOptions = {}) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  /**
   * Adds a check. Checks run and are listed in the order of their addition. The default check always passes.
   *
   * @throws Error when the name is empty or already used.
   */
  add(name: string, check: HealthCheck = () => undefined): void {
    if (name === "") throw new Error("a health check needs a name");
    if (this.#checks.has(name)) throw new Error(`there is a health check ${JSON.stringify(name)} already`);
    this.#checks.set(name, check);
  }

  /**
   * Runs all checks for a request to the endpoint.
   *
   * @param endpoint - Name of the endpoint, for example `healthz`.
   * @param query - `verbose` (any value, even `false`) lists the checks; each `exclude` skips one check.
   */
  async report(endpoint: string, query: URLSearchParams = new URLSearchParams()): Promise<HealthReport> {
    const excluded = new Set(query.getAll("exclude"));
    const results: HealthResult[] = [];
    for (const [name, check] of this.#all()) {
      if (excluded.delete(name)) results.push({ name, outcome: "excluded" });
      else results.push({ name, outcome: (await this.#run(endpoint, name, check)) === undefined ? "ok" : "failed" });
    }
    return renderHealth(endpoint, results, { verbose: query.has("verbose"), notExcluded: [...excluded] });
  }

  /** Runs one check, for example for `/healthz/ping`. Returns `undefined` when no check has that name. */
  async reportOne(endpoint: string, name: string): Promise<HealthReport | undefined> {
    const check = this.#all().get(name);
    if (check === undefined) return undefined;
    const error = await this.#run(endpoint, name, check);
    if (error === undefined) return { status: 200, body: "ok" };
    return { status: 500, body: `internal server error: ${errorMessage(error)}\n` };
  }

  #all(): ReadonlyMap<string, HealthCheck> {
    return this.#checks.size > 0 ? this.#checks : new Map([[PING, () => undefined]]);
  }

  async #run(endpoint: string, name: string, check: HealthCheck): Promise<unknown> {
    let error: unknown;
    try {
      error = (await check()) ?? undefined;
    } catch (thrown) {
      error = thrown ?? new Error("the check threw nothing");
    }
    this.#metrics?.checked(name, endpoint, error === undefined);
    if (error !== undefined)
      this.#logger.info({ endpoint, check: name, err: errorMessage(error) }, "Health check failed");
    return error;
  }
}
