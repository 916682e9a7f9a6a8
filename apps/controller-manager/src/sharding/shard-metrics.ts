import type { MetricFamilies } from "@kubewright/controller/metrics";
import { type MemberMetrics, memberMetricDefinitions as define } from "@kubewright/sharding";

/** The metrics of a replica that shares work; others have none of them. */
export function shardMetrics(families: MetricFamilies): MemberMetrics {
  const members = families.gauge(define.members);
  const owner = families.gauge<"bucket">(define.owner);
  const handoffs = families.counter<"reason">(define.handoffs);
  const takeover = families.histogram(define.takeover);
  const fencedWrites = families.counter<"bucket" | "reason">(define.fencedWrites);
  const conflicts = families.counter(define.conflicts);
  return {
    setMembers: (live) => members.set(live),
    setOwner: (bucket, isOwner) => owner.set({ bucket }, isOwner ? 1 : 0),
    countHandoff: (reason) => handoffs.inc({ reason }),
    observeTakeover: (seconds) => takeover.observe(seconds),
    countFencedWrite: (bucket, reason) => fencedWrites.inc({ bucket, reason }),
    countConflict: () => conflicts.inc(),
  };
}
