import { type DeepReadonly, type Lease, leases } from "@kubewright/api";
import { type Client, isConflict, isNotFound } from "@kubewright/client";
import type { Clock, Logger } from "@kubewright/clock";

import type { Assignment } from "./assignment.js";
import { bounded } from "./bounded.js";
import { type Members, identityOf } from "./members.js";
import { leaseName } from "./own-lease.js";
import type { ShardTiming } from "./timing.js";

export interface MemberFencingOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly timing: ShardTiming;
  readonly members: Members;
  readonly logger: Logger;
}

/**
 * Fences expired members: takes over their Leases, so that they can no longer renew them, before another member
 * acquires their buckets.
 */
export class MemberFencing {
  readonly #options: MemberFencingOptions;
  /** Monotonic time since which an owner has no Lease. */
  readonly #absentSinceMs = new Map<string, number>();
  /** Owners whose Leases were deleted at least a lease duration ago. */
  readonly #withoutLease = new Set<string>();

  constructor(options: MemberFencingOptions) {
    this.#options = options;
  }

  /** Members that can no longer write: their Leases were taken over or deleted. */
  get fenced(): ReadonlySet<string> {
    return new Set([...this.#options.members.fenced(), ...this.#withoutLease]);
  }

  /**
   * Fences the members that have expired since the last call.
   *
   * @throws The error of a request. The caller retries.
   */
  async fenceExpiredMembers(assignment: Assignment, signal: AbortSignal): Promise<void> {
    await this.#findOwnersWithoutLease(assignment, signal);
    await this.#takeOverExpiredLeases(signal);
    await this.#deleteFencedLeases(assignment, signal);
  }

  /**
   * Finds owners whose Leases were deleted. Such a member cannot renew, and has ended after a lease duration. The watch
   * may have missed a Lease, so the API server is read.
   */
  async #findOwnersWithoutLease({ entries }: Assignment, signal: AbortSignal): Promise<void> {
    const { clock, timing, members } = this.#options;
    const nowMs = clock.monotonic();
    const owners = entries.map(({ owner }) => owner);
    const absent = new Set(owners.filter((owner) => owner !== "" && !members.has(owner)));
    for (const owner of this.#absentSinceMs.keys()) if (!absent.has(owner)) this.#absentSinceMs.delete(owner);
    for (const owner of this.#withoutLease) if (!absent.has(owner)) this.#withoutLease.delete(owner);
    for (const owner of absent) if (!this.#absentSinceMs.has(owner)) this.#absentSinceMs.set(owner, nowMs);
    for (const [owner, sinceMs] of this.#absentSinceMs) {
      if (this.#withoutLease.has(owner) || nowMs - sinceMs < timing.leaseDurationMs) continue;
      try {
        members.observe(await this.#read(owner, signal));
        // A Lease without this sharding scheme belongs to no member that can be judged here.
        this.#absentSinceMs.set(owner, nowMs);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        this.#withoutLease.add(owner);
      }
    }
  }

  /** Takes over the Leases of expired members: a member is fenced only by losing its Lease. */
  async #takeOverExpiredLeases(signal: AbortSignal): Promise<void> {
    const { client, members, logger } = this.#options;
    for (const lease of members.expiredLeases()) {
      const identity = identityOf(lease)!;
      const takenOver = { ...lease, spec: { ...lease.spec, holderIdentity: "" } };
      try {
        const update = (bound: AbortSignal): Promise<DeepReadonly<Lease>> =>
          client.resource(leases).update(takenOver, { signal: bound });
        members.observe(await this.#bounded(update, signal));
        logger.warn({ member: identity }, "Took over the lease of an expired member");
      } catch (error) {
        if (isNotFound(error)) members.observeDeletion(lease);
        else if (!isConflict(error)) throw error;
        else await this.#observeAgain(lease, identity, signal);
      }
    }
  }

  /** Reads a Lease whose update had a conflict: the member renewed it, or it was deleted, and the watch is behind. */
  async #observeAgain(lease: DeepReadonly<Lease>, identity: string, signal: AbortSignal): Promise<void> {
    const { members } = this.#options;
    try {
      members.observe(await this.#read(identity, signal));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // An update may create a Lease, so that of a deleted one fails by the UID and not with 404.
      members.observeDeletion(lease);
    }
  }

  /** Deletes the Leases of fenced members that own no bucket any more. */
  async #deleteFencedLeases({ entries }: Assignment, signal: AbortSignal): Promise<void> {
    const { client, members } = this.#options;
    for (const identity of members.fenced()) {
      if (entries.some(({ owner }) => owner === identity)) continue;
      const { namespace, name = "", resourceVersion = "" } = members.leaseOf(identity)!.metadata;
      const remove = (bound: AbortSignal): Promise<unknown> =>
        client.resource(leases).delete(name, { namespace, preconditions: { resourceVersion }, signal: bound });
      await this.#bounded(remove, signal).catch(() => undefined);
    }
  }

  #read(identity: string, signal: AbortSignal): Promise<DeepReadonly<Lease>> {
    const { client, namespace } = this.#options;
    return this.#bounded(
      (bound) => client.resource(leases).get(leaseName(identity), { namespace, signal: bound }),
      signal,
    );
  }

  #bounded<T>(send: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, timing } = this.#options;
    return bounded(send, { clock, limitMs: timing.requestTimeoutMs, signals: [signal] });
  }
}
