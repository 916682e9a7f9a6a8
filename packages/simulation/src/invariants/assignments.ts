import type { ConfigMap, Lease } from "@kubewright/api";
import { type Assignment, type Entry, allBuckets, bucketName, parseAssignment } from "@kubewright/sharding";

import type { StoredChange, World } from "../world.js";

const CONFIG_MAPS = "configmaps";
export const LEASES = "leases.coordination.k8s.io";
const LEASE_NAME = /^kubewright-member-(controller-manager-\d+)-(\d+)$/;

/** A changed entry of the assignment. */
export interface ChangedEntry {
  readonly bucket: number;
  readonly before: Entry | undefined;
  readonly now: Entry;
}

/** Owners of each bucket during a run, from the stored assignment; the members' own views are not considered. */
export class Assignments {
  /** Number of changes of owner from one member to another, however short the ownership. */
  handovers = 0;
  /** Latest identity of each process that has had a Lease, by process. */
  readonly identities = new Map<string, string>();
  readonly #lastOwners = new Map<number, string>();
  #assignment: Assignment | undefined;

  get current(): Assignment | undefined {
    return this.#assignment;
  }

  /** Applies a change and returns the changed entries; `[]` when the change concerns another object. */
  onChange({ resource, type, object }: StoredChange): readonly ChangedEntry[] {
    const { name = "" } = object.metadata;
    if (resource === LEASES && type === "ADDED") {
      const [, process, incarnationKey] = LEASE_NAME.exec(name) ?? [];
      if (process !== undefined) this.identities.set(process, `${process}-${incarnationKey}`);
    }
    if (resource !== CONFIG_MAPS || name !== "kubewright-assignment") return [];
    const before = this.#assignment?.entries;
    this.#assignment =
      type === "DELETED" ? undefined : parseAssignment((object as ConfigMap).data?.["assignment"] ?? "");
    if (this.#assignment === undefined) return [];
    const { entries } = this.#assignment;
    const changed = allBuckets
      .map((bucket): ChangedEntry => ({ bucket, before: before?.[bucket], now: entries[bucket]! }))
      .filter(({ before: was, now }) => was?.owner !== now.owner || was.epoch !== now.epoch);
    for (const { bucket, now } of changed) this.#count(bucket, now.owner);
    return changed;
  }

  #count(bucket: number, owner: string): void {
    if (owner === "") return;
    const last = this.#lastOwners.get(bucket);
    if (last !== undefined && last !== owner) this.handovers++;
    this.#lastOwners.set(bucket, owner);
  }
}

/** Returns the process of a member: `controller-manager-2` of `controller-manager-2-1`. */
export function processOf(identity: string): string {
  return identity.replace(/-\d+$/, "");
}

/** Reports whether a member's Lease has no holder: then the member never writes again. */
export function isFenced(world: World, identity: string): boolean {
  const lease = world.get<Lease>(LEASES, "kube-system", `kubewright-member-${identity}`);
  return (lease?.spec?.holderIdentity ?? "") === "";
}

/** Returns a bucket's name for messages: `bucket 07`. */
export function bucketText(bucket: number): string {
  return `bucket ${bucketName(bucket)}`;
}
