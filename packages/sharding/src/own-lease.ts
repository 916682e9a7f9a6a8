import { type DeepReadonly, type Lease, compareResourceVersions, formatMicroTime, leases } from "@kubewright/api";
import { type Client, type ResourceClient, StatusError, isAlreadyExists, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { bounded } from "./bounded.js";
import { HASH_NAME, BUCKETS } from "./bucket.js";
import type { BucketLayout } from "./layout.js";
import { MemberError } from "./member-error.js";
import type { ShardTiming } from "./timing.js";

/** The label by which members find each other. */
export const GROUP_LABEL = "kubewright.dev/group";
/** How a member shards, as its Lease says: those who do otherwise are no members. */
export const SCHEME_ANNOTATION = "kubewright.dev/sharding-scheme";
const SCHEME = `${BUCKETS}/${HASH_NAME}`;

/** How members of a layout shard. Those of versions that split no namespaces take others for no members. */
export function schemeOf(layout: BucketLayout): string {
  return `${SCHEME} ${layout.text}`.trimEnd();
}

/** Whether it is a scheme of {@link schemeOf}, whatever is split: whose Lease has one lives and dies as we do. */
export function isScheme(scheme: string | undefined): boolean {
  return scheme?.split(" ", 1)[0] === SCHEME;
}

/** Wall time that passes beyond monotonic time, which stands still while a machine is suspended. */
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
  /** What others are to know of this member, besides that it lives. */
  readonly annotations: () => Readonly<Record<string, string>>;
  /**
   * Asked after a renewal that came too late: whether nobody has acted in between. The lease holds again once it resolves.
   */
  readonly confirm: (signal: AbortSignal) => Promise<void>;
}

/** The name of a member's Lease. */
export function leaseName(identity: string): string {
  return `kubewright-member-${identity}`;
}

/** The Lease that says that this member lives, and by which it may write. */
export class OwnLease {
  readonly #options: OwnLeaseOptions;
  readonly #leases: ResourceClient<Lease>;
  #lease: DeepReadonly<Lease> | undefined;
  /** When the last renewal that succeeded was sent. */
  #renewed: { readonly monotonicMs: number; readonly wallMs: number } | undefined;

  constructor(options: OwnLeaseOptions) {
    this.#options = options;
    this.#leases = options.client.resource(leases);
  }

  /** Whether it holds right now, by this process's clocks alone. */
  get holds(): boolean {
    return this.#ageMs() < this.#options.timing.renewDeadlineMs;
  }

  /** Whether it is renewed in time: who cannot reach the API cannot tell whether others do. */
  get isRenewedInTime(): boolean {
    return this.#ageMs() <= 2 * this.#options.timing.retryPeriodMs;
  }

  /**
   * Makes the Lease, or renews it.
   *
   * @returns Whether it had been late, by more than two periods.
   * @throws MemberError when this member is no more; or what the request failed with, to be tried again.
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

  /** Takes the Lease away. The last that is done. */
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
      // The server refused: somebody else wrote or deleted it, or this member did, and the answer was lost.
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
      // Of an earlier attempt: identities are not used twice.
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
