import { type KubernetesVersion, NEWEST_VERSION, jobs, leases, mutableCopy, namespaces, pods } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client, isAlreadyExists, isNotFound } from "@kubewright/client";
import { SimulatedClock, seededRandom } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { ApiRequest, Transport } from "@kubewright/transport";

import type { ControllerManagerDeps } from "../src/controller-manager-deps.js";
import { runControllerManager } from "../src/controller-manager.js";
import { type ControllerManagerOptions, completeOptions, defaultOptions } from "../src/options.js";

export interface Line {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface SimulatedManager {
  /** Requests with the simulated time of each, in milliseconds. */
  readonly requests: readonly (ApiRequest & { readonly atMs: number })[];
  /** Log lines, without `debug`. */
  readonly lines: readonly Line[];
  /** `running`, `stopped`, or the message of the error it failed with. */
  readonly state: () => string;
  readonly stop: () => void;
}

export interface StartOptions {
  /** Wraps the transport between the manager and the API server. */
  readonly wrap?: (transport: Transport) => Transport;
  /** A transport without the manager's credentials, for requests that carry their own. */
  readonly anonymous?: Transport;
}

/** An API server in this process with its own clock, and its managers. */
export class SimulatedManagers {
  readonly clock = new SimulatedClock("2026-01-01T00:00:00Z");
  readonly server;
  readonly client;
  #started = 0;

  private constructor(kubernetesVersion: KubernetesVersion, featureGates: Readonly<Record<string, boolean>>) {
    const { clock } = this;
    const random = seededRandom(1);
    this.server = createApiServer({ clock, random, freeze: true, kubernetesVersion, featureGates });
    this.client = new Client({ transport: this.server.transport, clock });
  }

  /**
   * @param kubernetesVersion - Version of the API server. Default: the newest.
   * @param featureGates - Feature gates of the API server.
   */
  static async create(
    kubernetesVersion: KubernetesVersion = NEWEST_VERSION,
    featureGates: Readonly<Record<string, boolean>> = {},
  ): Promise<SimulatedManagers> {
    const managers = new SimulatedManagers(kubernetesVersion, featureGates);
    for (const name of ["default", "kube-system", "a", "b"]) await managers.#createNamespace(name);
    return managers;
  }

  start(
    options: Partial<ControllerManagerOptions> = {},
    { wrap = (transport) => transport, anonymous }: StartOptions = {},
  ): SimulatedManager {
    const { clock } = this;
    const requests: (ApiRequest & { readonly atMs: number })[] = [];
    const lines: Line[] = [];
    const inner = wrap(this.server.transport);
    const recordLine =
      (level: Line["level"]) =>
      (fields: object, message: string): void =>
        void lines.push({ level, message, fields: fields as Line["fields"] });
    const logger: Logger = {
      debug: () => undefined,
      info: recordLine("info"),
      warn: recordLine("warn"),
      error: recordLine("error"),
    };
    const deps: ControllerManagerDeps = {
      options: completeOptions({ ...defaultOptions, ...options }),
      transport: (request) => {
        requests.push({ ...request, atMs: clock.monotonic() });
        return inner(request);
      },
      anonymousTransport: anonymous,
      clock,
      random: seededRandom(++this.#started),
      loggerFor: () => logger,
      build: { version: "0.0.0", platform: "linux", arch: "x64" },
      hostname: "host",
      localTimeZone: "UTC",
    };
    const stop = new AbortController();
    let state = "running";
    runControllerManager(deps, stop.signal).then(
      () => (state = "stopped"),
      (error: unknown) => (state = (error as Error).message),
    );
    return { requests, lines, state: () => state, stop: () => stop.abort(new Error("stop")) };
  }

  /** Creates a Job with two concurrent pods. */
  async createJob(name = "pi", { namespace = "default", managedBy }: { namespace?: string; managedBy?: string } = {}) {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } };
    const spec = { completions: 2, parallelism: 2, template, ...(managedBy === undefined ? {} : { managedBy }) };
    await this.client.resource(jobs).create({ metadata: { name, namespace }, spec });
  }

  async countPods(namespace?: string): Promise<number> {
    return (await this.client.resource(pods).list(namespace === undefined ? {} : { namespace })).items.length;
  }

  /** Returns the holder of a Lease; `undefined` without a Lease, `""` without a holder. */
  async leaseHolder(name = "kubewright-controller-manager", namespace = "kube-system"): Promise<string | undefined> {
    try {
      return (await this.client.resource(leases).get(name, { namespace })).spec?.holderIdentity ?? "";
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Writes a Lease as its holder, and creates it if necessary. */
  async holdLease(name: string, holderIdentity: string, renewTime: string): Promise<void> {
    const client = this.client.resource(leases);
    const spec = { holderIdentity, leaseDurationSeconds: 15, acquireTime: renewTime, renewTime, leaseTransitions: 0 };
    try {
      const lease = mutableCopy(await client.get(name, { namespace: "kube-system" }));
      await client.update({ ...lease, spec });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await client.create({ metadata: { name, namespace: "kube-system" }, spec });
    }
  }

  async #createNamespace(name: string): Promise<void> {
    await this.client
      .resource(namespaces)
      .create({ metadata: { name } })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }
}

export function isWrite({ method }: ApiRequest): boolean {
  return method !== "GET";
}

/** Returns levels and messages, for comparisons. */
export function messages(lines: readonly Line[]): string[] {
  return lines.map(({ level, message }) => `${level} ${message}`);
}
