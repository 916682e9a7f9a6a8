import { leaderElectionOptions } from "../options/leader-election-options.js";
import { checksum } from "../managed-by-lease.js";

const MAX_LABEL_LENGTH = 63;
const CHECKSUM_LENGTH = 9;

/**
 * Group of the replicas: the label of their Leases, and the prefix of the assignment's name. Replicas with the same
 * Lease of leader election form one group.
 *
 * @param leaseName - Name of that Lease, after completion of the options.
 */
export function shardGroupOf(leaseName: string): string {
  const base = leaderElectionOptions.leaderElectResourceName.defaultValue;
  const group = leaseName.startsWith(base) ? `kubewright${leaseName.slice(base.length)}` : leaseName;
  if (group.length <= MAX_LABEL_LENGTH) return group;
  return `${group.slice(0, MAX_LABEL_LENGTH - CHECKSUM_LENGTH).replace(/[^a-z0-9]+$/, "")}-${checksum(leaseName)}`;
}
