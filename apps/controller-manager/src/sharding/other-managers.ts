import { type DeepReadonly, type Lease, leases } from "@kubewright/api";
import { type Client, errorMessage, isForbidden, isNotFound } from "@kubewright/client";
import type { Clock, Logger } from "@kubewright/clock";
import { GROUP_LABEL } from "@kubewright/sharding";

import { UsageError } from "../flag-values.js";
import { holderOf, findLiveLease } from "../live-manager.js";
import type { ControllerManagerOptions } from "../options.js";
import { shardGroupOf } from "./shard-group.js";

export interface OtherManagersOptions {
  readonly options: Pick<ControllerManagerOptions, "leaderElectResourceName" | "leaderElectResourceNamespace">;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const RETRY_MS = 1_000;

/**
 * Keeps a manager that does everything itself from working beside replicas that share the work.
 *
 * Both look for the other after they have said that they are there: this one when it has the Lease of leader election, replicas
 * when they have their own. So one of the two sees the other, whoever is first.
 *
 * @throws UsageError of one line when there are replicas that live; the signal's reason.
 */
export async function ensureNoLiveMembers({
  options,
  client,
  clock,
  logger,
  signal,
}: OtherManagersOptions): Promise<void> {
  const { leaderElectResourceName, leaderElectResourceNamespace: namespace } = options;
  const labelSelector = `${GROUP_LABEL}=${shardGroupOf(leaderElectResourceName)}`;
  const own = client.resource(leases);
  for (;;) {
    try {
      const { items } = await own.list({ namespace, labelSelector, signal });
      const live = await Promise.all(
        items.map((lease) => {
          const read = (): Promise<DeepReadonly<Lease> | undefined> =>
            own.get(lease.metadata.name!, { namespace, signal }).catch((error: unknown) => {
              if (isNotFound(error)) return undefined;
              throw error;
            });
          return findLiveLease(read, { clock, signal });
        }),
      );
      const found = live.find((lease) => lease !== undefined);
      if (found === undefined) return;
      throw new UsageError(
        `replicas that share the work are running (${holderOf(found)} holds lease ${namespace}/${found.metadata.name}): stop them, or pass --sharding namespaces here, too`,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UsageError) throw error;
      if (isForbidden(error)) {
        // Rights from before there was sharding: then nobody shares here.
        logger.debug({ err: errorMessage(error) }, "Not known whether replicas share the work");
        return;
      }
      logger.warn({ err: errorMessage(error) }, "Not known yet whether replicas share the work");
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** What replicas that share the work wait for: the leader of managers that do everything themselves. */
export class LeaderWatch {
  readonly #options: OtherManagersOptions;
  #blockReason: string | undefined = "not known yet whether a manager without --sharding leads";

  constructor(options: OtherManagersOptions) {
    this.#options = options;
  }

  /** Why to wait, in words; `undefined`: no more. */
  get blockReason(): string | undefined {
    return this.#blockReason;
  }

  /**
   * Looks until nobody else leads.
   *
   * @isVisible isVisible - Whether others can see this replica.
   * @param isMember - Whether it is one of the replicas that share, who has the Lease to keep the others from it.
   */
  async run(isVisible: () => boolean, isMember: (identity: string) => boolean): Promise<void> {
    const { options, client, clock, logger, signal } = this.#options;
    const { leaderElectResourceNamespace: namespace, leaderElectResourceName: name } = options;
    const read = (): Promise<DeepReadonly<Lease> | undefined> =>
      client
        .resource(leases)
        .get(name, { namespace, signal })
        .catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
    for (let reportedLeader = ""; !signal.aborted;) {
      try {
        const wasVisible = isVisible();
        const found = await findLiveLease(read, { clock, signal });
        const leader = found === undefined ? "" : holderOf(found);
        if (wasVisible && (leader === "" || isMember(leader))) {
          this.#blockReason = undefined;
          return;
        }
        if (leader !== "" && !isMember(leader)) {
          this.#blockReason = `${leader}, which does not share the work, holds lease ${namespace}/${name}`;
          // Before it is there itself this replica has not heard of the others either, one of whom it may be.
          if (wasVisible && reportedLeader !== leader) {
            logger.info({ leader }, "Waiting for a manager without --sharding to stop");
            reportedLeader = leader;
          }
        }
      } catch (error) {
        if (!signal.aborted) logger.debug({ err: errorMessage(error) }, "Not known yet which manager leads");
      }
      await clock.sleep(RETRY_MS, signal, { background: true }).catch(() => undefined);
    }
  }
}
