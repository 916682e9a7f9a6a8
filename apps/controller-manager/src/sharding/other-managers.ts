import { leases } from "@kubewright/api";
import { type Client, errorMessage, isForbidden } from "@kubewright/client";
import type { Clock, Logger } from "@kubewright/clock";
import { GROUP_LABEL } from "@kubewright/sharding";

import { UsageError } from "../flag-values.js";
import { findLiveLease, getLease, holderOf } from "../live-manager.js";
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
 * Ensures that a manager without sharding does not work beside replicas that share the work.
 *
 * Each side first makes itself visible and then looks for the other. This manager holds the Lease of leader election
 * first, a replica its own Lease. So at least one side sees the other.
 *
 * @throws UsageError with a one-line message when there are live replicas; the signal's reason.
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
  for (;;) {
    try {
      const { items } = await client.resource(leases).list({ namespace, labelSelector, signal });
      const live = await Promise.all(
        items.map(({ metadata: { name = "" } }) =>
          findLiveLease(() => getLease(client, { namespace, name, signal }), { clock, signal }),
        ),
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
        // The role is older than sharding, so no replica shares work here.
        logger.debug({ err: errorMessage(error) }, "Not known whether replicas share the work");
        return;
      }
      logger.warn({ err: errorMessage(error) }, "Not known yet whether replicas share the work");
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** Blocks replicas that share work while a manager without sharding leads. */
export class LeaderWatch {
  readonly #options: OtherManagersOptions;
  #blockReason: string | undefined = "not known yet whether a manager without --sharding leads";

  constructor(options: OtherManagersOptions) {
    this.#options = options;
  }

  /** Why replicas must wait, as text; `undefined`: they need not wait any more. */
  get blockReason(): string | undefined {
    return this.#blockReason;
  }

  /**
   * Polls the Lease until no other manager leads.
   *
   * @param isVisible - Whether others can see this replica.
   * @param isMember - Whether this is the identity of a replica that shares the work and holds the Lease to exclude
   * other managers.
   */
  async run(isVisible: () => boolean, isMember: (identity: string) => boolean): Promise<void> {
    const { options, client, clock, logger, signal } = this.#options;
    const { leaderElectResourceNamespace: namespace, leaderElectResourceName: name } = options;
    const read = () => getLease(client, { namespace, name, signal });
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
          // Before this replica is visible it may not know the other members, and the holder may be one of them.
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
