import type { DeepReadonly, Lease } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { BucketLayout } from "./layout.js";
import { SCHEME_ANNOTATION, isScheme, leaseName, schemeOf } from "./own-lease.js";

interface Seen {
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
  readonly #seen = new Map<string, Seen>();
  #known = "";
  #changedMs: number;

  constructor({ clock, me, leaseDurationMs, layout }: MembersOptions) {
    this.#clock = clock;
    this.#me = me;
    this.#leaseDurationMs = leaseDurationMs;
    this.#scheme = schemeOf(layout);
    this.#changedMs = clock.monotonic();
  }

  saw(lease: DeepReadonly<Lease>): void {
    const identity = identityOf(lease);
    if (identity === undefined || identity === this.#me) return;
    const known = this.#seen.get(identity)?.lease.metadata.resourceVersion;
    if (known !== lease.metadata.resourceVersion) this.#seen.set(identity, { lease, sinceMs: this.#clock.monotonic() });
    this.#note();
  }

  sawDeleted(lease: DeepReadonly<Lease>): void {
    this.#seen.delete(identityOf(lease) ?? "");
    this.#note();
  }

  /** Observation begins anew: what was not heard meanwhile says nothing. */
  restart(): void {
    for (const seen of this.#seen.values()) seen.sinceMs = this.#clock.monotonic();
  }

  has(identity: string): boolean {
    return identity === this.#me || this.#seen.has(identity);
  }

  leaseOf(identity: string): DeepReadonly<Lease> | undefined {
    return this.#seen.get(identity)?.lease;
  }

  /** Identities of those who live and share the same buckets, this member's among them. */
  live(): readonly string[] {
    return [this.#me, ...this.#othersOf(this.#scheme).map(({ lease }) => identityOf(lease)!)].sort();
  }

  /** Whether somebody else lives who shares the buckets of a layout. */
  anyOf(layout: BucketLayout): boolean {
    return this.#othersOf(schemeOf(layout)).length > 0;
  }

  /** What the others who live tell of themselves. */
  annotations(): readonly Readonly<Record<string, string>>[] {
    return this.#othersOf(this.#scheme).map(({ lease }) => lease.metadata.annotations ?? {});
  }

  /** Those who never write again: their Leases are nobody's. */
  buried(): ReadonlySet<string> {
    return new Set([...this.#seen].filter(([, { lease }]) => isReleased(lease)).map(([identity]) => identity));
  }

  /** The Leases that were the same for too long: of those who are dead, once they are seized. */
  silent(): readonly DeepReadonly<Lease>[] {
    const silent = [...this.#seen.values()].filter((seen) => !isReleased(seen.lease) && this.#isSilent(seen));
    return silent.map(({ lease }) => lease);
  }

  /** For how long the same ones have lived. */
  get sameForMs(): number {
    this.#note();
    return this.#clock.monotonic() - this.#changedMs;
  }

  #othersOf(scheme: string): readonly Seen[] {
    const hasScheme = ({ lease }: Seen): boolean => lease.metadata.annotations?.[SCHEME_ANNOTATION] === scheme;
    return [...this.#seen.values()].filter(
      (seen) => hasScheme(seen) && !isReleased(seen.lease) && !this.#isSilent(seen),
    );
  }

  #isSilent({ sinceMs }: Seen): boolean {
    return this.#clock.monotonic() - sinceMs >= this.#leaseDurationMs;
  }

  #note(): void {
    const known = this.live().join();
    if (known === this.#known) return;
    this.#known = known;
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
