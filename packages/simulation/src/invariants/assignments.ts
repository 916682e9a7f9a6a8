import type { ConfigMap, Lease } from "@kubewright/api";
import { type Assignment, type Entry, allBuckets, bucketName, parseAssignment } from "@kubewright/sharding";

import type { StoredChange, World } from "../world.js";

const CONFIG_MAPS = "configmaps";
const LEASES = "leases.coordination.k8s.io";
const LEASE_NAME = /^kubewright-member-(controller-manager-\d+)-(\d+)$/;

/** An entry of the assignment that has just been changed. */
export interface ChangedEntry {
  readonly bucket: number;
  readonly before: Entry | undefined;
  readonly now: Entry;
}

/** Who has had which bucket in a run, as what is stored tells: what members believe is their affair. */
export class Assignments {
  /** Changes of owner from one member to another, whoever had the bucket for how short a time. */
  handovers = 0;
  /** The latest life of each process that has had a Lease, as its identity. */
  readonly identities = new Map<string, string>();
  readonly #lastOwners = new Map<number, string>();
  #assignment: Assignment | undefined;

  get current(): Assignment | undefined {
    return this.#assignment;
  }

  /** What a change does to the assignment; `[]`: it is about something else. */
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

/** The process of a member: `controller-manager-2` of `controller-manager-2-1`. */
export function processOf(identity: string): string {
  return identity.replace(/-\d+$/, "");
}

/** Whether a member's Lease is nobody's: then it never writes again. */
export function isFenced(world: World, identity: string): boolean {
  const lease = world.get<Lease>(LEASES, "kube-system", `kubewright-member-${identity}`);
  return (lease?.spec?.holderIdentity ?? "") === "";
}

/** `bucket 07` */
export function bucketText(bucket: number): string {
  return `bucket ${bucketName(bucket)}`;
}
