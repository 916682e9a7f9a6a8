import { type DeepReadonly, type KubernetesObject, type Lease, formatMicroTime, formatTime } from "@kubewright/api";

import type { Change } from "./storage/change.js";
import type { AccessListener, ChangeListener, ResourceStorage } from "./storage/resource-storage.js";
import type { Store } from "./storage/store.js";

/** The renewals of a Lease that a leader in this process defers. */
export interface DeferredRenewals {
  /** The Lease as its holder has written it last. */
  readonly lease: DeepReadonly<Lease>;
  /** Returns the latest renewal that is due by now; `undefined` if it was taken before. */
  readonly takeDue: () => LeaseRenewal | undefined;
  /** Called with the stored Lease after a renewal that was due. */
  readonly onRenewed: (lease: DeepReadonly<Lease>, renewal: LeaseRenewal) => void;
  /** Ends the deferral when it aborts. */
  readonly signal: AbortSignal;
}

export interface LeaseRenewal {
  /** Wall time of the renewal by the holder's clock, in epoch milliseconds. */
  readonly renewTimeMs: number;
  /** Milliseconds since the renewal was due. */
  readonly ageMs: number;
}

export interface DeferralOptions {
  /**
   * User agents whose watches do not observe renewals, because they only read metadata that a renewal does not change.
   * They receive a renewal when it is stored. Default: none.
   */
  readonly ignoredWatchers?: readonly string[];
}

interface Deferral extends DeferredRenewals {
  readonly namespace: string;
  readonly name: string;
  readonly ignoredWatchers: readonly string[];
  readonly onEnd: () => void;
}

type ManagedFieldsEntry = NonNullable<DeepReadonly<KubernetesObject>["metadata"]["managedFields"]>[number];

/** Key of Leases in the store. */
const LEASES = "coordination.k8s.io/leases";
/** Prefix of the kinds that configure webhooks and policies, which may refuse a renewal. */
const ADMISSION = "admissionregistration.k8s.io/";

/**
 * Renews Leases for leaders in this process, but only right before something observes a Lease: a get, a list, a watch, a
 * write of another client or a snapshot. It stores what the latest renewal that is due would have stored.
 *
 * A deferral ends when a client watches the Lease or writes it, and when an admission webhook or policy is configured.
 * From then on the leader renews by requests. Deferred renewals are neither authorized nor reported to observers of
 * requests.
 */
export class LeaseRenewals implements AccessListener {
  readonly #store: Store;
  readonly #leases: ResourceStorage;
  readonly #admission: readonly ResourceStorage[];
  readonly #deferrals = new Set<Deferral>();
  #unfollow: (() => void) | undefined;
  /** Whether the current write of a Lease is a deferred renewal. */
  #isRenewing = false;

  /** @param options.admission - Storages of the kinds that configure webhooks and policies. */
  constructor(options: {
    readonly store: Store;
    readonly leases: ResourceStorage;
    readonly admission: readonly ResourceStorage[];
  }) {
    this.#store = options.store;
    this.#leases = options.leases;
    this.#admission = options.admission;
  }

  /**
   * Defers the renewals of a Lease until the returned promise resolves. The renewals that are due by then are stored.
   *
   * @returns `undefined` if the holder has to renew by requests: the Lease is watched, another client has written it, or
   * an admission webhook or policy exists.
   */
  defer(renewals: DeferredRenewals, { ignoredWatchers = [] }: DeferralOptions = {}): Promise<void> | undefined {
    const { lease, signal } = renewals;
    const { namespace = "", name = "", resourceVersion, managedFields = [] } = lease.metadata;
    if (signal.aborted || this.#leases.stored(namespace, name)?.object.metadata.resourceVersion !== resourceVersion)
      return undefined;
    // A takeover at the time of the last renewal leaves `renewTime` to the previous holder's manager until the next one.
    if (managedFields.some((entry) => owns(entry, "f:renewTime") && !owns(entry, "f:holderIdentity"))) return undefined;
    if (this.#admission.some(({ size }) => size > 0)) return undefined;
    const ended = Promise.withResolvers<void>();
    const onAbort = (): void => this.#end(deferral);
    const onEnd = (): void => {
      signal.removeEventListener("abort", onAbort);
      ended.resolve();
    };
    const deferral: Deferral = { ...renewals, namespace, name, ignoredWatchers, onEnd };
    if (this.#leases.listeners().some((listener) => this.#observes(listener, deferral))) return undefined;
    signal.addEventListener("abort", onAbort, { once: true });
    this.#deferrals.add(deferral);
    if (this.#deferrals.size === 1) this.#start();
    return ended.promise;
  }

  /** Stores the renewals that are due, and ends all deferrals: from now on something may interfere with renewals. */
  endAll(): void {
    for (const deferral of this.#deferrals) this.#end(deferral);
  }

  beforeRead(namespace: string | undefined, name: string | undefined): void {
    for (const deferral of this.#deferrals) {
      if (namespace !== undefined && namespace !== deferral.namespace) continue;
      if (name === undefined || name === deferral.name) this.#renew(deferral);
    }
  }

  onFollow(listener: ChangeListener): void {
    for (const deferral of this.#deferrals) if (this.#observes(listener, deferral)) this.#end(deferral);
  }

  #start(): void {
    this.#leases.accessListener = this;
    this.#unfollow = this.#store.follow((key, change) => {
      if (key.startsWith(ADMISSION)) this.endAll();
      else if (key === LEASES && !this.#isRenewing) this.#onWrite(change);
    });
  }

  #end(deferral: Deferral): void {
    this.#renew(deferral);
    this.#remove(deferral);
  }

  #remove(deferral: Deferral): void {
    if (!this.#deferrals.delete(deferral)) return;
    if (this.#deferrals.size === 0) {
      this.#leases.accessListener = undefined;
      this.#unfollow?.();
    }
    deferral.onEnd();
  }

  /** Ends the deferral of a Lease that another client has written or deleted. */
  #onWrite({ subject }: Change): void {
    for (const deferral of this.#deferrals)
      if (subject.name === deferral.name && subject.namespace === deferral.namespace) this.#remove(deferral);
  }

  #observes(listener: ChangeListener, { namespace, name, ignoredWatchers }: Deferral): boolean {
    const stored = this.#leases.stored(namespace, name);
    if (stored === undefined || listener.observes?.(stored) !== true) return false;
    return listener.userAgent === undefined || !ignoredWatchers.includes(listener.userAgent);
  }

  /** Stores the latest renewal that is due, as a request of the holder would have at that time. */
  #renew({ namespace, name, takeDue, onRenewed }: Deferral): void {
    const stored = this.#leases.stored(namespace, name);
    const due = stored === undefined ? undefined : takeDue();
    if (stored === undefined || due === undefined) return;
    const lease = renewed(stored.object, due, this.#store.nowMs() - due.ageMs);
    this.#isRenewing = true;
    try {
      this.#leases.write(lease);
    } finally {
      this.#isRenewing = false;
    }
    onRenewed(lease, due);
  }
}

/** Returns a copy with another `renewTime`. Its manager gets the server's time of the renewal. */
function renewed(
  lease: DeepReadonly<Lease>,
  { renewTimeMs }: LeaseRenewal,
  serverMs: number,
): Lease & KubernetesObject {
  const { metadata, spec } = lease;
  const time = formatTime(serverMs);
  const managedFields = metadata.managedFields?.map((entry) =>
    owns(entry, "f:renewTime") ? { ...entry, time } : entry,
  );
  return {
    ...lease,
    metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) },
    spec: { ...spec, renewTime: formatMicroTime(renewTimeMs) },
  } as Lease & KubernetesObject;
}

function owns({ fieldsV1 }: ManagedFieldsEntry, field: string): boolean {
  const spec = (fieldsV1 as Record<string, Record<string, unknown> | undefined> | undefined)?.["f:spec"];
  return spec?.[field] !== undefined;
}
