import { leaderElectionDefaults } from "../options/leader-election-options.js";
import { checksum } from "../managed-by-lease.js";

const MAX_LABEL_LENGTH = 63;
const CHECKSUM_LENGTH = 9;

/**
 * What replicas that share work are called together: the label of their Leases, and the beginning of the assignment's name. Those
 * of one Lease of leader election are one group.
 *
 * @param leaseName - As completed.
 */
export function shardGroupOf(leaseName: string): string {
  const base = leaderElectionDefaults.leaderElectResourceName;
  const group = leaseName.startsWith(base) ? `kubewright${leaseName.slice(base.length)}` : leaseName;
  if (group.length <= MAX_LABEL_LENGTH) return group;
  return `${group.slice(0, MAX_LABEL_LENGTH - CHECKSUM_LENGTH).replace(/[^a-z0-9]+$/, "")}-${checksum(leaseName)}`;
}
