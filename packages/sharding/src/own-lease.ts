import { type DeepReadonly, type Lease, compareResourceVersions, formatMicroTime, leases } from "@kubewright/api";
import { type Client, type ResourceClient, StatusError, isAlreadyExists, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { bounded } from "./bounded.js";
import { HASH_NAME, BUCKETS } from "./bucket.js";
import type { BucketLayout } from "./layout.js";
import { MemberError } from "./member-error.js";
import type { ShardTiming } from "./timing.js";

/** Label by which members of a group find each other. */
export const GROUP_LABEL = "kubewright.dev/group";
/** Annotation of a Lease with the member's sharding scheme. Processes with another scheme are no members. */
export const SCHEME_ANNOTATION = "kubewright.dev/sharding-scheme";
const SCHEME = `${BUCKETS}/${HASH_NAME}`;

/** Sharding scheme of a layout. Versions without split namespaces do not treat members with splits as members. */
export function schemeOf(layout: BucketLayout): string {
  return `${SCHEME} ${layout.text}`.trimEnd();
}

/**
 * Whether this is a scheme of {@link schemeOf} with any splits: the same rules of liveness and fencing apply to its
 * Leases.
 */
export function isScheme(scheme: string | undefined): boolean {
  return scheme?.split(" ", 1)[0] === SCHEME;
}

/**
 * Tolerated difference between wall and monotonic time. Monotonic time does not advance while the machine is suspended.
 */
const MAX_DRIFT_MS = 2_000;

export interface OwnLeaseOptions {
  readonly client: Pick<Client, "resource">;
  readonly clock: Clock;
  readonly namespace: string;
  readonly group: string;
  readonly identity: string;
  readonly version: string;
  readonly layout: BucketLayout;
  readonly timing: ShardTiming;
  /** Further annotations of the Lease, read by other members. */
  readonly annotations: () => Readonly<Record<string, string>>;
  /**
   * Called after a late renewal: must verify that no other member has acted meanwhile. The Lease is valid again after
   * it resolves.
   */
  readonly confirm: (signal: AbortSignal) => Promise<void>;
}

/** Name of a member's Lease. */
export function leaseName(identity: string): string {
  return `kubewright-member-${identity}`;
}

/** This member's Lease: shows others that the member is live, and permits its writes. */
export class OwnLease {
  readonly #options: OwnLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  #lease: DeepReadonly<Lease> | undefined;
  /** When the last successful renewal was sent. */
  #renewed: { readonly monotonicMs: number; readonly wallMs: number } | undefined;

  constructor(options: OwnLeaseOptions) {
    this.#options = options;
    this.#leases = options.client.resource(leases);
  }

  /** Whether the Lease is valid now, by this process's clocks alone. */
  get holds(): boolean {
    return this.#ageMs() < this.#options.timing.renewDeadlineMs;
  }

  /**
   * Whether the Lease was renewed within two retry periods. A member that cannot reach the API server cannot judge
   * others.
   */
  get isRenewedInTime(): boolean {
    return this.#ageMs() <= 2 * this.#options.timing.retryPeriodMs;
  }

  /**
   * Creates or renews the Lease.
   *
   * @returns Whether the Lease had been late by more than two retry periods.
   * @throws MemberError when this process is no longer a member; otherwise the error of the request, which the caller
   * retries.
   */
  async renew(signal: AbortSignal): Promise<boolean> {
    const { clock, timing, confirm } = this.#options;
    const wasRenewedInTime = this.isRenewedInTime;
    const heldBefore = this.#renewed === undefined || this.holds;
    const sent = { monotonicMs: clock.monotonic(), wallMs: clock.now() };
    const limit = { clock, limitMs: timing.requestTimeoutMs, signals: [signal] };
    await bounded((bound) => this.#write(bound), limit);
    if (!heldBefore) await bounded(confirm, limit);
    this.#renewed = sent;
    return !wasRenewedInTime;
  }

  /** Deletes the Lease, as the last step of a shutdown. */
  async remove(signal: AbortSignal): Promise<void> {
    const { clock, timing, namespace } = this.#options;
    const { name = "", uid = "" } = this.#lease?.metadata ?? {};
    this.#renewed = undefined;
    if (name === "") return;
    const remove = (bound: AbortSignal): Promise<unknown> =>
      this.#leases.delete(name, { namespace, preconditions: { uid }, signal: bound });
    await bounded(remove, { clock, limitMs: timing.requestTimeoutMs, signals: [signal] });
  }

  async #write(signal: AbortSignal): Promise<void> {
    try {
      if (this.#lease === undefined) await this.#create(signal);
      else
        this.#setLease(await this.#leases.update({ ...this.#annotated(this.#lease), spec: this.#spec() }, { signal }));
    } catch (error) {
      // The API server refused. Either another client wrote or deleted the Lease, or this member did and the response
      // was lost.
      if (error instanceof StatusError && this.#lease !== undefined) await this.#read(signal);
      throw error;
    }
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { namespace, group, identity, version, layout, annotations } = this.#options;
    const metadata = {
      name: leaseName(identity),
      namespace,
      labels: { [GROUP_LABEL]: group },
      annotations: { ...annotations(), [SCHEME_ANNOTATION]: schemeOf(layout), "kubewright.dev/version": version },
    };
    try {
      this.#setLease(await this.#leases.create({ metadata, spec: this.#spec() }, { signal }));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // Created by an earlier request of this member: identities are not reused.
      await this.#read(signal);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { namespace, identity } = this.#options;
    const found = await this.#leases.get(leaseName(identity), { namespace, signal }).catch((error: unknown) => {
      throw isNotFound(error) ? this.#lostLease("it was deleted") : error;
    });
    if (found.spec?.holderIdentity !== identity) throw this.#lostLease("another member took it over");
    this.#setLease(found);
  }

  #setLease(lease: DeepReadonly<Lease>): void {
    const [before, now] = [this.#lease?.metadata.resourceVersion, lease.metadata.resourceVersion];
    if (before !== undefined && now !== undefined && (compareResourceVersions(now, before) ?? 0) < 0)
      throw this.#lostLease("its resourceVersion went back, as after a restored backup");
    this.#lease = lease;
  }

  #annotated(lease: DeepReadonly<Lease>): DeepReadonly<Lease> {
    const annotations = { ...lease.metadata.annotations, ...this.#options.annotations() };
    return { ...lease, metadata: { ...lease.metadata, annotations } };
  }

  #spec(): NonNullable<Lease["spec"]> {
    const { clock, identity, timing } = this.#options;
    const acquireTime = this.#lease?.spec?.acquireTime ?? formatMicroTime(clock.now());
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(timing.leaseDurationMs / 1000),
      acquireTime,
      renewTime: formatMicroTime(clock.now()),
    };
  }

  #ageMs(): number {
    if (this.#renewed === undefined) return Number.POSITIVE_INFINITY;
    const { clock } = this.#options;
    const ageMs = clock.monotonic() - this.#renewed.monotonicMs;
    const isSuspended = clock.now() - this.#renewed.wallMs - ageMs > MAX_DRIFT_MS;
    return isSuspended ? Number.POSITIVE_INFINITY : ageMs;
  }

  #lostLease(reason: string): MemberError {
    const { namespace, identity } = this.#options;
    return new MemberError(`lost the lease ${namespace}/${leaseName(identity)}: ${reason}`);
  }
}
