import { BucketLayout } from "@kubewright/sharding";

import { type OptionsOf, option, optionGroup } from "../flag.js";
import { type FlagType, assignments, textNamed } from "../flag-types.js";
import type { GenericOptions } from "./generic-options.js";
import type { LeaderElectionOptions } from "./leader-election-options.js";
import type { SafetyOptions } from "./safety-options.js";

/** In a file also a mapping of namespaces to numbers. */
const splits: FlagType<readonly string[]> = {
  ...assignments,
  placeholder: "namespace=parts,…",
  fromYaml: (flag, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return assignments.fromYaml(flag, value);
    const entries = Object.entries(value);
    if (entries.some(([, parts]) => typeof parts !== "number")) return undefined;
    return entries.map(([namespace, parts]) => `${namespace}=${String(parts)}`);
  },
  expected: "a mapping of namespaces to numbers, or a list of namespace=parts",
};

export const shardingOptions = optionGroup("Sharding", {
  /** How replicas share their work: by `namespaces`, or `""` for one leader that does everything. */
  sharding: option(
    textNamed("by"),
    "",
    "'namespaces': all replicas work, each for some of the namespaces; garbage collection and the threshold of ended pods are one replica's. Default: one leader does everything",
  ),
  /** Namespaces whose Jobs several replicas handle, as `namespace=parts`. */
  shardingSplitNamespaces: option(
    splits,
    [],
    "With --sharding: namespaces that are too much for one replica, each with 2 to 16 parts that its Jobs are shared by; 16 namespaces at most. Every part reads the whole namespace. All replicas need the same: stop all of them to change it",
  ),
});

type ShardingOptions = OptionsOf<typeof shardingOptions>;

/** Validates the options. Upstream has no sharding. */
export function shardingErrors({
  sharding,
  shardingSplitNamespaces,
  namespaces,
  leaderElect,
  useServiceAccountCredentials,
}: ShardingOptions &
  Pick<SafetyOptions, "namespaces"> &
  Pick<LeaderElectionOptions, "leaderElect"> &
  Pick<GenericOptions, "useServiceAccountCredentials">): string[] {
  if (sharding === "" && shardingSplitNamespaces.length > 0)
    return ["--sharding-split-namespaces needs --sharding namespaces: add it, or leave this one out"];
  if (sharding === "") return [];
  if (sharding !== "namespaces") return [`--sharding ${JSON.stringify(sharding)} must be "namespaces"`];
  const errors = splitErrors(shardingSplitNamespaces);
  if (namespaces.length > 0)
    errors.push("--sharding shares all namespaces: it cannot be combined with --namespace, leave one of them out");
  if (!leaderElect)
    errors.push("--sharding works by Leases: it cannot be combined with --leader-elect=false, leave one of them out");
  if (useServiceAccountCredentials)
    errors.push("--sharding cannot be combined with --use-service-account-credentials, leave one of them out");
  return errors;
}

/**
 * Bucket layout of `--sharding-split-namespaces`. The last value of a repeated namespace wins.
 *
 * @throws Error with a one-line message for an item that is not `namespace=parts`, or an invalid number of parts.
 */
export function layoutOf(items: readonly string[]): BucketLayout {
  const pairs = items.map((item) => {
    const [, namespace = "", parts = ""] = /^([^=]*)=(\d+)$/.exec(item) ?? [];
    if (namespace === "") throw new Error(`${JSON.stringify(item)} is not NAMESPACE=PARTS, such as batch=4`);
    return [namespace, Number(parts)] as const;
  });
  return new BucketLayout(Object.fromEntries(pairs));
}

function splitErrors(items: readonly string[]): string[] {
  try {
    layoutOf(items);
    return [];
  } catch (error) {
    return [`--sharding-split-namespaces: ${(error as Error).message}`];
  }
}
