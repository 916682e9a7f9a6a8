import { flagGroup } from "../flag.js";
import { textNamed } from "../flag-types.js";
import type { GenericOptions } from "./generic-options.js";
import type { LeaderElectionOptions } from "./leader-election-options.js";
import type { SafetyOptions } from "./safety-options.js";

export interface ShardingOptions {
  /** What replicas share their work by: `namespaces`, or `""` for one leader that does everything. */
  readonly sharding: string;
}

export const shardingDefaults: ShardingOptions = { sharding: "" };

export const shardingFlags = flagGroup<ShardingOptions>("Sharding", {
  sharding: [
    "sharding",
    textNamed("by"),
    "'namespaces': all replicas work, each for some of the namespaces; garbage collection and the threshold of ended pods are one replica's. Default: one leader does everything",
  ],
});

/** Upstream has no sharding. */
export function shardingErrors({
  sharding,
  namespaces,
  leaderElect,
  useServiceAccountCredentials,
}: ShardingOptions &
  Pick<SafetyOptions, "namespaces"> &
  Pick<LeaderElectionOptions, "leaderElect"> &
  Pick<GenericOptions, "useServiceAccountCredentials">): string[] {
  if (sharding === "") return [];
  if (sharding !== "namespaces") return [`--sharding ${JSON.stringify(sharding)} must be "namespaces"`];
  const errors: string[] = [];
  if (namespaces.length > 0)
    errors.push("--sharding shares all namespaces: it cannot be combined with --namespace, leave one of them out");
  if (!leaderElect)
    errors.push("--sharding works by Leases: it cannot be combined with --leader-elect=false, leave one of them out");
  if (useServiceAccountCredentials)
    errors.push("--sharding cannot be combined with --use-service-account-credentials, leave one of them out");
  return errors;
}
