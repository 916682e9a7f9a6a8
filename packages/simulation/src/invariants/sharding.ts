import { CLUSTER_BUCKET, allBuckets, bucketName, bucketOf } from "@kubewright/sharding";

import type { Invariant, InvariantChecks } from "../invariant.js";
import type { ObservedRequest, StoredChange, World } from "../world.js";
import { Assignments, LEASES, bucketText, isFenced, processOf } from "./assignments.js";
import { GARBAGE_COLLECTOR, POD_GC_CONTROLLER, isFromController, nameOf } from "./stored-objects.js";

/** Controllers that work for the whole cluster, regardless of an object's namespace. */
const OF_THE_CLUSTER: ReadonlySet<string> = new Set([GARBAGE_COLLECTOR, "node-lifecycle-controller"]);

/** Upstream has no sharding: `docs/sharding.md` specifies it. */
export const oneWriter: Invariant = {
  name: "S21 one writer per bucket",
  sentence:
    "Of managers that share work, only the manager that owns an object's bucket in the " +
    "assignment writes the object; in each epoch of a bucket, its controllers start once.",
  watch(world, violated): InvariantChecks {
    if (!isShared(world)) return {};
    const assignments = new Assignments();
    /** The incarnation that writes, by bucket, epoch and controller. */
    const incarnations = new Map<string, number>();
    const check = (change: StoredChange, request: ObservedRequest): void => {
      const { object, resource } = change;
      const candidates = bucketsOf(request, object.metadata.namespace);
      const owned = candidates.find((bucket) => processOf(ownerOf(assignments, bucket)) === request.process);
      const subject = nameOf(object, resource);
      if (owned === undefined) {
        const [bucket = 0] = candidates;
        const whose = JSON.stringify(ownerOf(assignments, bucket));
        violated(
          subject,
          `is written by ${request.component} of ${request.process}, and ${bucketText(bucket)} is ${whose}'s`,
        );
        return;
      }
      if (candidates.length > 1) return;
      const key = `${owned} ${assignments.current?.entries[owned]?.epoch} ${request.component}`;
      const incarnationKey = incarnations.get(key) ?? request.incarnation;
      incarnations.set(key, incarnationKey);
      if (incarnationKey !== request.incarnation)
        violated(subject, `is written by two lives of ${request.component} in one epoch of ${bucketText(owned)}`);
    };
    return {
      onChange(change) {
        assignments.onChange(change);
        const { request, resource } = change;
        if (request === undefined || !isManager(request) || !isFromController(request)) return;
        // Writes that an API server makes as an effect of another write are ignored, and so are events.
        if (resource !== request.resource || resource.startsWith("events")) return;
        check(change, request);
      },
    };
  },
};

export const liveMembersKeepBuckets: Invariant = {
  name: "S22 live members keep their buckets",
  sentence:
    "No manager takes or releases a bucket of a member that holds its own Lease; a " +
    "bucket's epoch increases by one with each owner, and never decreases.",
  watch(world, violated): InvariantChecks {
    if (!isShared(world)) return {};
    const assignments = new Assignments();
    return {
      onChange(change) {
        for (const { bucket, before, now } of assignments.onChange(change)) {
          const me = assignments.identities.get(change.request?.process ?? "") ?? "";
          const owner = before?.owner ?? "";
          const epoch = (before?.epoch ?? 0) + (now.owner === "" || now.owner === owner ? 0 : 1);
          if (before !== undefined && now.epoch !== epoch)
            violated(
              bucketText(bucket),
              `goes from epoch ${before.epoch} to ${now.epoch} with ${JSON.stringify(now.owner)}`,
            );
          if (now.owner !== "" && now.owner !== me)
            violated(bucketText(bucket), `is given to ${now.owner} by ${JSON.stringify(me)}`);
          if (owner !== "" && owner !== me && !isFenced(world, owner))
            violated(bucketText(bucket), `is taken from ${owner}, which has its Lease, by ${me}`);
        }
      },
    };
  },
};

/**
 * Longer than the sum of the delays of a handover that are not visible from outside:
 *
 * - a Lease has to expire (15 s),
 * - a bucket that started to sync during a fault is abandoned (60 s),
 * - an unassigned bucket waits for each member that does not take it (5 s),
 * - one poll.
 */
const ACTIVE_MS = 100_000;

export const everyBucketIsActive: Invariant = {
  name: "L11 every bucket is active",
  sentence: "Without faults, no bucket is without an active manager for longer than 100 s: handovers end.",
  watch(world, violated): InvariantChecks {
    if (!isShared(world)) return {};
    const sinceMs = new Map<number, number>();
    return {
      onTick() {
        const shards = Object.values(world.shards());
        for (const bucket of allBuckets) {
          const states = shards.flatMap(({ buckets }) => buckets[bucket]?.state ?? []);
          if (world.nowMs < world.healedMs || states.includes("active")) sinceMs.set(bucket, world.nowMs);
          const forMs = world.nowMs - (sinceMs.get(bucket) ?? world.healedMs);
          if (forMs <= ACTIVE_MS) continue;
          const what = states.length === 0 ? "unowned" : `only ${states.join(" and ")}`;
          violated(`bucket ${bucketName(bucket)}`, `has been ${what} for ${forMs / 1000} s`);
        }
      },
      atRest() {
        if (world.nowMs - world.healedMs < ACTIVE_MS) return;
        for (const bucket of allBuckets) {
          const having = Object.entries(world.shards()).filter(
            ([, { buckets }]) => buckets[bucket]?.state === "active",
          );
          if (having.length > 1)
            violated(bucketText(bucket), `is worked for by ${having.map(([name]) => name).join(" and ")} at rest`);
        }
      },
    };
  },
};

/**
 * Longer than the waits of a bucket without an owner together: until a bucket that all members avoid is acquired (30 s),
 * and for members that do not acquire it (5 s each).
 */
const WITHOUT_OWNER_MS = 60_000;
/** A member renews its Lease every 2 s. It may write for 8 s after it sent a renewal. */
const RENEWED_MS = 8_000;
/** A member gives up a request after this time. */
const REQUEST_TIMEOUT_MS = 4_000;

export const everyBucketHasOwner: Invariant = {
  name: "L14 every bucket has an owner",
  sentence:
    "No bucket is without an owner for longer than 60 s while a manager renews its Lease and the API server answers it.",
  watch(world, violated): InvariantChecks {
    if (!isShared(world)) return {};
    const assignments = new Assignments();
    const freeSinceMs = new Map<number, number>();
    /** For each process, when it last renewed its Lease, and since when all its requests have succeeded in time. */
    const members = new Map<string, { readonly renewedMs: number; readonly sinceMs: number }>();
    return {
      onChange(change) {
        assignments.onChange(change);
      },
      onAnswer({ component, process, resource, name, verb, code, sentMs, atMs }) {
        if (component !== "sharding" || verb === "watch") return;
        if (code === 0 || code >= 429 || atMs - sentMs > REQUEST_TIMEOUT_MS) members.delete(process);
        else if (resource === LEASES && name.startsWith("kubewright-member-") && verb === "update" && code === 200) {
          const known = members.get(process);
          const isContinued = known !== undefined && atMs - known.renewedMs <= RENEWED_MS;
          members.set(process, { renewedMs: atMs, sinceMs: isContinued ? known.sinceMs : atMs });
        }
      },
      onTick() {
        for (const [process, { renewedMs }] of members)
          if (world.nowMs - renewedMs > RENEWED_MS) members.delete(process);
        const liveSinceMs = Math.min(...[...members.values()].map(({ sinceMs }) => sinceMs));
        for (const bucket of allBuckets) {
          const isFree = assignments.current?.entries[bucket]?.owner === "";
          if (!isFree) freeSinceMs.delete(bucket);
          else if (!freeSinceMs.has(bucket)) freeSinceMs.set(bucket, world.nowMs);
          const forMs = world.nowMs - Math.max(freeSinceMs.get(bucket) ?? Infinity, liveSinceMs);
          if (forMs > WITHOUT_OWNER_MS) violated(bucketText(bucket), `has had no owner for ${forMs / 1000} s`);
        }
      },
    };
  },
};

function isShared({ plan }: World): boolean {
  return plan.controllers?.sharding === true;
}

function isManager({ process }: ObservedRequest): boolean {
  return process.startsWith("controller-manager-");
}

/** Returns the buckets to which a request may belong: surplus ended pods are those of the whole cluster. */
function bucketsOf({ component }: ObservedRequest, namespace = ""): readonly number[] {
  if (OF_THE_CLUSTER.has(component)) return [CLUSTER_BUCKET];
  return component === POD_GC_CONTROLLER ? [bucketOf(namespace), CLUSTER_BUCKET] : [bucketOf(namespace)];
}

function ownerOf({ current }: Assignments, bucket: number): string {
  return current?.entries[bucket]?.owner ?? "";
}
