import { errorMessage } from "@kubewright/client";
import { type Logger, silentLogger } from "@kubewright/clock";

import { type HealthReport, type HealthResult, renderHealth } from "./health-report.js";

/** Answers with what is wrong, or throws it; nothing when all is well. */
export type HealthCheck = () => Error | undefined | void | Promise<Error | undefined | void>;

/** `kubernetes_healthcheck` and `kubernetes_healthchecks_total`. */
export interface HealthMetrics {
  /** @param type - The endpoint that asked, e.g. `healthz`. */
  checked(name: string, type: string, passed: boolean): void;
}

export interface HealthChecksOptions {
  /** Hears why a check failed; the answer withholds it, since anybody may ask. */
  readonly logger?: Logger;
  readonly metrics?: HealthMetrics;
}

/** Passes as long as the process answers at all. */
const PING = "ping";

/**
 * The named checks behind `/healthz`, `/livez` or `/readyz`. While there is none, `ping` is there.
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
   * Checks run and are listed in the order they were added. Without a check given it is a ping.
   *
   * @throws Error when the name is empty or taken.
   */
  add(name: string, check: HealthCheck = () => undefined): void {
    if (name === "") throw new Error("a health check needs a name");
    if (this.#checks.has(name)) throw new Error(`there is a health check ${JSON.stringify(name)} already`);
    this.#checks.set(name, check);
  }

  /**
   * Answers a request for the whole endpoint.
   *
   * @param endpoint - Its name, e.g. `healthz`.
   * @param query - `verbose` (any value, even `false`) lists the checks; each `exclude` leaves one out.
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

  /** Answers a request for one check, e.g. `/healthz/ping`; `undefined` when there is none of that name. */
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
