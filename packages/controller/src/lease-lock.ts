import { type DeepReadonly, type Lease, leases } from "@kubewright/api";
import type { Client, ResourceClient } from "@kubewright/client";

import { type LeaderElectionRecord, leaseSpecOf, recordOf } from "./leader-election-record.js";

export interface LeaseLockOptions {
  readonly client: Pick<Client, "resource">;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Labels of a new Lease. Every write merges them into the existing labels. */
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * A Lease object that candidates compete to write. The server's optimistic concurrency decides which write wins.
 *
 * Upstream: client-go tools/leaderelection/resourcelock/leaselock.go.
 */
export class LeaseLock {
  readonly name: string;
  readonly namespace: string;
  readonly #leases: ResourceClient<Lease>;
  readonly #labels: Readonly<Record<string, string>> | undefined;
  #lease: DeepReadonly<Lease> | undefined;

  constructor({ client, namespace, name, labels }: LeaseLockOptions) {
    this.name = name;
    this.namespace = namespace;
    this.#leases = client.resource(leases);
    this.#labels = labels;
  }

  /** The Lease as last read or written. */
  get lease(): DeepReadonly<Lease> | undefined {
    return this.#lease;
  }

  /** Remembers a Lease that was written for this candidate as if it had written it. */
  adopt(lease: DeepReadonly<Lease>): void {
    this.#lease = lease;
  }

  async get(signal: AbortSignal): Promise<LeaderElectionRecord> {
    this.#lease = await this.#leases.get(this.name, { namespace: this.namespace, signal });
    return recordOf(this.#lease);
  }

  async create(record: LeaderElectionRecord, signal: AbortSignal): Promise<void> {
    const { name, namespace } = this;
    const metadata = { name, namespace, ...(this.#labels === undefined ? {} : { labels: this.#labels }) };
    this.#lease = await this.#leases.create({ metadata, spec: leaseSpecOf(record) }, { signal });
  }

  /**
   * Replaces the spec of the last read or written Lease. @throws StatusError `Conflict` when another client has written
   * it since.
   */
  async update(record: LeaderElectionRecord, signal: AbortSignal): Promise<void> {
    if (this.#lease === undefined) throw new Error("lease not initialized, call get or create first");
    const { metadata } = this.#lease;
    const labelledMetadata =
      this.#labels === undefined ? metadata : { ...metadata, labels: { ...metadata.labels, ...this.#labels } };
    this.#lease = await this.#leases.update(
      { ...this.#lease, metadata: labelledMetadata, spec: leaseSpecOf(record) },
      { signal },
    );
  }
}
