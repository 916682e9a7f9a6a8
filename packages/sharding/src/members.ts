import type { DeepReadonly, Lease } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { BucketLayout } from "./layout.js";
import { SCHEME_ANNOTATION, isScheme, leaseName, schemeOf } from "./own-lease.js";

interface ObservedLease {
  readonly lease: DeepReadonly<Lease>;
  /** Monotonic time at which this resourceVersion was first observed. */
  sinceMs: number;
}

export interface MembersOptions {
  readonly clock: Clock;
  /** Identity of this member. */
  readonly me: string;
  readonly leaseDurationMs: number;
  readonly layout: BucketLayout;
}

/**
 * The other members, by their Leases. Timestamps in Leases are ignored. Only the time matters for which a Lease has not
 * changed, by this process's clock.
 */
export class Members {
  readonly #clock: Clock;
  readonly #me: string;
  readonly #leaseDurationMs: number;
  readonly #scheme: string;
  readonly #observed = new Map<string, ObservedLease>();
  #liveIdentities = "";
  #changedMs: number;

  constructor({ clock, me, leaseDurationMs, layout }: MembersOptions) {
    this.#clock = clock;
    this.#me = me;
    this.#leaseDurationMs = leaseDurationMs;
    this.#scheme = schemeOf(layout);
    this.#changedMs = clock.monotonic();
  }

  observe(lease: DeepReadonly<Lease>): void {
    const identity = identityOf(lease);
    if (identity === undefined || identity === this.#me) return;
    const known = this.#observed.get(identity)?.lease.metadata.resourceVersion;
    if (known !== lease.metadata.resourceVersion)
      this.#observed.set(identity, { lease, sinceMs: this.#clock.monotonic() });
    this.#trackChange();
  }

  observeDeletion(lease: DeepReadonly<Lease>): void {
    this.#observed.delete(identityOf(lease) ?? "");
    this.#trackChange();
  }

  /** Restarts the observation of all Leases, since renewals may have been missed. */
  restartObservation(): void {
    for (const seen of this.#observed.values()) seen.sinceMs = this.#clock.monotonic();
  }

  has(identity: string): boolean {
    return identity === this.#me || this.#observed.has(identity);
  }

  leaseOf(identity: string): DeepReadonly<Lease> | undefined {
    return this.#observed.get(identity)?.lease;
  }

  /** Sorted identities of the live members with the same layout, this member included. */
  live(): readonly string[] {
    return [this.#me, ...this.#liveOthers(this.#scheme).map(({ lease }) => identityOf(lease)!)].sort();
  }

  /** Whether another live member has this layout. */
  hasOthersWith(layout: BucketLayout): boolean {
    return this.#liveOthers(schemeOf(layout)).length > 0;
  }

  /** Annotations on the Leases of the other live members. */
  annotationsOfOthers(): readonly Readonly<Record<string, string>>[] {
    return this.#liveOthers(this.#scheme).map(({ lease }) => lease.metadata.annotations ?? {});
  }

  /** Members whose Leases have no holder: they can no longer write. */
  fenced(): ReadonlySet<string> {
    return new Set([...this.#observed].filter(([, { lease }]) => isReleased(lease)).map(([identity]) => identity));
  }

  /** Leases that were not renewed for a lease duration. Their members are fenced once the Leases are taken over. */
  expiredLeases(): readonly DeepReadonly<Lease>[] {
    const expired = [...this.#observed.values()].filter((seen) => !isReleased(seen.lease) && this.#isExpired(seen));
    return expired.map(({ lease }) => lease);
  }

  /** How long the set of live members has not changed, in milliseconds. */
  get unchangedForMs(): number {
    this.#trackChange();
    return this.#clock.monotonic() - this.#changedMs;
  }

  #liveOthers(scheme: string): readonly ObservedLease[] {
    const hasScheme = ({ lease }: ObservedLease): boolean => lease.metadata.annotations?.[SCHEME_ANNOTATION] === scheme;
    return [...this.#observed.values()].filter(
      (seen) => hasScheme(seen) && !isReleased(seen.lease) && !this.#isExpired(seen),
    );
  }

  #isExpired({ sinceMs }: ObservedLease): boolean {
    return this.#clock.monotonic() - sinceMs >= this.#leaseDurationMs;
  }

  #trackChange(): void {
    const known = this.live().join();
    if (known === this.#liveIdentities) return;
    this.#liveIdentities = known;
    this.#changedMs = this.#clock.monotonic();
  }
}

/**
 * Identity of the member that a Lease belongs to. It is read from the Lease's name, since a Lease that was taken over
 * has no holder. `undefined`: no Lease of this sharding scheme.
 */
export function identityOf({ metadata }: DeepReadonly<Lease>): string | undefined {
  const { name = "", annotations } = metadata;
  if (!isScheme(annotations?.[SCHEME_ANNOTATION]) || !name.startsWith(leaseName(""))) return undefined;
  return name.slice(leaseName("").length);
}

function isReleased({ spec }: DeepReadonly<Lease>): boolean {
  return (spec?.holderIdentity ?? "") === "";
}
