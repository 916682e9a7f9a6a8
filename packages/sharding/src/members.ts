import type { DeepReadonly, Lease } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { BucketLayout } from "./layout.js";
import { SCHEME_ANNOTATION, isScheme, leaseName, schemeOf } from "./own-lease.js";

interface ObservedLease {
  readonly lease: DeepReadonly<Lease>;
  /** Monotonic: when it was first seen as it is. */
  sinceMs: number;
}

export interface MembersOptions {
  readonly clock: Clock;
  /** The identity of the member that looks. */
  readonly me: string;
  readonly leaseDurationMs: number;
  readonly layout: BucketLayout;
}

/**
 * Who else lives, as their Leases show. Times in Leases are never looked at: what counts is for how long, by one's own clock, a
 * Lease has been the same.
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

  /** Observation begins anew: what was not heard meanwhile says nothing. */
  restartObservation(): void {
    for (const seen of this.#observed.values()) seen.sinceMs = this.#clock.monotonic();
  }

  has(identity: string): boolean {
    return identity === this.#me || this.#observed.has(identity);
  }

  leaseOf(identity: string): DeepReadonly<Lease> | undefined {
    return this.#observed.get(identity)?.lease;
  }

  /** Identities of those who live and share the same buckets, this member's among them. */
  live(): readonly string[] {
    return [this.#me, ...this.#liveOthers(this.#scheme).map(({ lease }) => identityOf(lease)!)].sort();
  }

  /** Whether somebody else lives who shares the buckets of a layout. */
  hasOthersWith(layout: BucketLayout): boolean {
    return this.#liveOthers(schemeOf(layout)).length > 0;
  }

  /** What the others who live tell of themselves. */
  annotationsOfOthers(): readonly Readonly<Record<string, string>>[] {
    return this.#liveOthers(this.#scheme).map(({ lease }) => lease.metadata.annotations ?? {});
  }

  /** Those who never write again: their Leases are nobody's. */
  fenced(): ReadonlySet<string> {
    return new Set([...this.#observed].filter(([, { lease }]) => isReleased(lease)).map(([identity]) => identity));
  }

  /** The Leases that were the same for too long: of those who are dead, once they are seized. */
  expiredLeases(): readonly DeepReadonly<Lease>[] {
    const expired = [...this.#observed.values()].filter((seen) => !isReleased(seen.lease) && this.#isExpired(seen));
    return expired.map(({ lease }) => lease);
  }

  /** For how long the same ones have lived. */
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

/** Whose Lease it is: by its name, since one that was seized names nobody else. `undefined`: no member of our kind. */
export function identityOf({ metadata }: DeepReadonly<Lease>): string | undefined {
  const { name = "", annotations } = metadata;
  if (!isScheme(annotations?.[SCHEME_ANNOTATION]) || !name.startsWith(leaseName(""))) return undefined;
  return name.slice(leaseName("").length);
}

function isReleased({ spec }: DeepReadonly<Lease>): boolean {
  return (spec?.holderIdentity ?? "") === "";
}
