import type { LeaderElectionMetrics } from "../leader-elector.js";
import type { MetricFamilies } from "./metric-families.js";

const GROUP_BY_NAME = "'name' is the string used to identify the lease. Please make sure to group by name.";

/** Creates the two `leader_election_*` metrics (component-base metrics/prometheus/clientgo/leaderelection). */
export function leaderElectionMetrics(families: MetricFamilies): LeaderElectionMetrics {
  const status = families.gauge({
    name: "leader_election_master_status",
    help: `Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. ${GROUP_BY_NAME}`,
    labels: ["name"],
  });
  const slowPath = families.counter({
    name: "leader_election_slowpath_total",
    help: `Total number of slow path exercised in renewing leader leases. ${GROUP_BY_NAME}`,
    labels: ["name"],
  });
  return {
    setLeading: (name, leading) => status.set({ name }, leading ? 1 : 0),
    countSlowPath: (name) => slowPath.inc({ name }),
  };
}
