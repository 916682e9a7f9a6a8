import type { LeaseRenewals } from "@kubewright/apiserver";
import type { RenewalDeferral, RenewalSchedule } from "@kubewright/controller";

import type { Network } from "./network.js";

/** Watches with these user agents read metadata alone, and a renewal changes only the version of it. */
const METADATA_READERS = ["garbage-collector-controller"];

/** Defers the renewals of leaders in a cluster as long as no fault could prevent them. */
export class UndisturbedRenewals implements RenewalDeferral {
  readonly #leaseRenewals: Pick<LeaseRenewals, "defer" | "endAll">;
  readonly #network: Network;

  constructor(options: { readonly leaseRenewals: Pick<LeaseRenewals, "defer" | "endAll">; readonly network: Network }) {
    this.#leaseRenewals = options.leaseRenewals;
    this.#network = options.network;
    this.#network.onDisturbance(() => this.#leaseRenewals.endAll());
  }

  defer(renewals: RenewalSchedule): Promise<void> | undefined {
    if (this.#network.isDisturbed) return undefined;
    return this.#leaseRenewals.defer(renewals, { ignoredWatchers: METADATA_READERS });
  }
}
