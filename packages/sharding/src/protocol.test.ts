import { configMaps } from "@kubewright/api";
import { describe, expect, test } from "vitest";

import {
  chaos,
  lateWrites,
  outage,
  pauseProcess,
  settled,
  silenceWatches,
  takeovers,
} from "../test/protocol-scenarios.js";
import { type ProcessHandle, ShardWorld, type WorldOptions } from "../test/shard-world.js";
import { BUCKETS, allBuckets } from "./bucket.js";
import { BucketLayout, unsplitLayout } from "./layout.js";
import { LeaseLostError } from "./lease-lost-error.js";
import { ShardMember } from "./shard-member.js";

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const SECOND = 1000;
const MINUTE = 60_000;

/**
 * Problems of a quiescent system: every live member has its quota, all slots are complete, and no invariant was
 * violated.
 */
function problems(world: ShardWorld): string[] {
  const counts = world.counts();
  const alive = world.liveProcesses();
  const sizes = alive.map(({ identity }) => counts[identity] ?? 0);
  const free = counts[""] ?? 0;
  return [
    ...world.violations,
    ...(Math.max(...sizes) - Math.min(...sizes) > 1 ? [`shares differ: ${JSON.stringify(counts)}`] : []),
    ...(free > 0 ? [`${free} buckets have no owner`] : []),
    ...Object.keys(counts)
      .filter((owner) => owner !== "" && !alive.some(({ identity }) => identity === owner))
      .map((owner) => `${owner} has buckets and does not live`),
    ...world.idleBuckets(25 * SECOND).map((bucket) => `no member works for ${bucket}`),
    ...alive.filter(({ member }) => !member.isReady).map(({ identity }) => `${identity} is not ready`),
  ];
}

const lastProcess = (world: ShardWorld): ProcessHandle => world.processes.at(-1)!;

describe("without trouble", () => {
  test("the first member creates the assignment once no member can own a bucket of an earlier one, and acquires every bucket", async () => {
    const world = new ShardWorld();
    await world.start(1);
    await world.clock.advance(14 * SECOND);
    expect(world.assignment).toBeUndefined();
    await world.clock.advance(6 * SECOND);
    expect(world.counts()).toEqual({ m1: 65 });
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
  });

  test("members that start together share evenly, and nothing moves", async () => {
    const world = await settled(4);
    expect(problems(world)).toEqual([]);
    expect(takeovers(world)).toBe(allBuckets.length);
    await world.clock.advance(5 * MINUTE);
    expect(takeovers(world)).toBe(allBuckets.length);
    expect(problems(world)).toEqual([]);
  });

  test("a member that joins gets its share after 30 s, and no other bucket moves", async () => {
    const world = await settled(3);
    const before = takeovers(world);
    world.add();
    await world.clock.advance(29 * SECOND);
    expect(takeovers(world)).toBe(before);
    await world.clock.advance(20 * SECOND);
    expect(problems(world)).toEqual([]);
    expect(takeovers(world) - before).toBe(16);
  });

  test("the buckets of a member that stops are active elsewhere 2 s later, and its Lease is deleted", async () => {
    const world = await settled(4);
    const stopping = lastProcess(world);
    const stopped = stopping.stop();
    await world.clock.advance(2 * SECOND);
    expect(stopping.ended()).toBe("");
    await stopped;
    expect(world.counts()["m4"]).toBeUndefined();
    expect(world.counts()[""]).toBeUndefined();
    expect(await world.leaseNames()).toHaveLength(3);
    await world.clock.advance(30 * SECOND);
    expect(problems(world)).toEqual([]);
  });

  test("a rolling restart of four moves each bucket twice at most", async () => {
    const world = await settled(4);
    const before = takeovers(world);
    for (const old of world.processes.slice()) {
      world.add();
      await world.clock.advance(40 * SECOND);
      const stopped = old.stop();
      await world.clock.advance(20 * SECOND);
      await stopped;
    }
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
    expect(takeovers(world) - before).toBeLessThanOrEqual(2 * allBuckets.length);
  });

  test("all members stop and restart: the assignment stays, and buckets are acquired immediately", async () => {
    const world = await settled(3);
    const stopped = world.processes.map((process) => process.stop());
    await world.clock.advance(5 * SECOND);
    await Promise.all(stopped);
    expect(world.counts()).toEqual({ "": 65 });
    for (let index = 0; index < 3; index++) world.add();
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
  });
});

describe("when a member goes", () => {
  test("the buckets of a killed member are active elsewhere within its lease and 3 s, and the other members continue", async () => {
    const world = await settled(4);
    const before = takeovers(world);
    world.kill(lastProcess(world));
    await world.clock.advance(12 * SECOND);
    expect(takeovers(world)).toBe(before);
    await world.clock.advance(6 * SECOND);
    expect(world.counts()["m4"]).toBeUndefined();
    expect(takeovers(world) - before).toBe(16);
    await world.clock.advance(30 * SECOND);
    expect(problems(world)).toEqual([]);
    expect(await world.leaseNames()).toHaveLength(3);
  });

  test("two members die together, and a third while it takes over", async () => {
    const world = await settled(4);
    world.kill(world.processes[0]!);
    world.kill(world.processes[1]!);
    while (takeovers(world) === allBuckets.length) await world.clock.advance(50);
    world.kill(world.processes[2]!);
    await world.clock.advance(MINUTE);
    expect(world.counts()).toEqual({ m4: 65 });
    expect(problems(world)).toEqual([]);
  });

  test("one dies after it has given a bucket up, and one after it has taken one", async () => {
    const world = await settled(2);
    const [first, second] = world.processes as [ProcessHandle, ProcessHandle];
    const third = world.add();
    while (!world.owners().includes("")) await world.clock.advance(20);
    world.kill(first);
    while (!world.owners().includes(third.identity)) await world.clock.advance(20);
    world.kill(third);
    await world.clock.advance(MINUTE);
    expect(world.liveProcesses()).toEqual([second]);
    expect(problems(world)).toEqual([]);
  });

  test("one that joins while another drains takes its part", async () => {
    const world = await settled(3);
    const stopped = lastProcess(world).stop();
    world.add();
    await world.clock.advance(2 * MINUTE);
    await stopped;
    expect(problems(world)).toEqual([]);
  });

  test("from one to eight and back to one in a minute", async () => {
    const world = await settled(1);
    for (let index = 0; index < 7; index++) world.add();
    await world.clock.advance(40 * SECOND);
    const stopped = world.processes.slice(1).map((process) => process.stop());
    await world.clock.advance(20 * SECOND);
    await Promise.all(stopped);
    await world.clock.advance(MINUTE);
    expect(world.counts()).toEqual({ m1: 65 });
    expect(problems(world)).toEqual([]);
  });
});

describe("when a process is held up", () => {
  test("for longer than its lease, it writes nothing more and exits", async () => {
    const world = await pauseProcess(25 * SECOND);
    expect(world.processes[0]!.ended()).toBe("lost the lease kube-system/kubewright-member-m1: it was deleted");
    expect(problems(world)).toEqual([]);
  });

  test("and its machine's monotonic clock was suspended, too", async () => {
    const world = await pauseProcess(25 * SECOND, true);
    expect(world.processes[0]!.ended()).toMatch("lost the lease");
    expect(problems(world)).toEqual([]);
  });

  test("a write that was queued for a connection at the pause is not sent when it resumes", async () => {
    const world = await settled(3);
    const held = world.processes[0]!;
    held.fault.queueMs = 2 * SECOND;
    await world.clock.advance(11 * SECOND);
    const letGo = held.clock.pause();
    await world.clock.advance(25 * SECOND);
    letGo();
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
  });

  test("for less than its lease, it keeps its buckets", async () => {
    const world = await pauseProcess(11 * SECOND);
    expect(takeovers(world)).toBe(allBuckets.length);
    expect(world.liveProcesses()).toHaveLength(3);
    expect(problems(world)).toEqual([]);
  });
});

describe("when the way to the server is broken", () => {
  test("of one member, it is fenced, its buckets move, and it exits when it is back", async () => {
    const world = await settled(3);
    const cut = world.processes[0]!;
    cut.fault.down = true;
    await world.clock.advance(20 * SECOND);
    expect(world.counts()["m1"]).toBeUndefined();
    expect(cut.ended()).toBeUndefined();
    expect(cut.member.isReady).toBe(false);
    cut.fault.down = false;
    await world.clock.advance(MINUTE);
    expect(cut.ended()).toMatch("lost the lease");
    expect(problems(world)).toEqual([]);
  });

  test("of all for 20 s, all come back to what they had, and nothing moves", async () => {
    const world = await outage(({ member }) => expect(member.isReady).toBe(false));
    expect(takeovers(world)).toBe(allBuckets.length);
    expect(problems(world)).toEqual([]);
  });

  test("hanging watches do not fence live members", async () => {
    const world = await silenceWatches();
    expect(takeovers(world)).toBe(allBuckets.length);
    expect(world.liveProcesses()).toHaveLength(3);
    expect(problems(world)).toEqual([]);
  });

  /** One member stops right after it has written in each of its buckets. */
  const stopAfterWork = async (options: WorldOptions): Promise<ShardWorld> => {
    const world = await settled(2, options);
    await world.clock.advance(11_500);
    const stopped = lastProcess(world).stop();
    await world.clock.advance(30 * SECOND);
    await stopped;
    return world;
  };

  test("a list without resourceVersion is not affected by a stale watch cache", async () => {
    expect(problems(await stopAfterWork({}))).toEqual([]);
  });

  test("counterexample: a list from the stale cache repeats the former owner's last write", async () => {
    const { violations } = await stopAfterWork({ listsAnyVersion: true });
    expect(violations[0]).toMatch("of m2 was done again by m1");
  });

  test("responses get lost: the outcome is read again, and nothing is written twice", async () => {
    const world = await settled(3);
    for (const { fault } of world.processes) fault.lostAnswers = 0.3;
    const joined = world.add();
    joined.fault.lostAnswers = 0.3;
    await world.clock.advance(3 * MINUTE);
    for (const { fault } of world.processes) fault.lostAnswers = 0;
    await world.clock.advance(2 * MINUTE);
    expect(world.processes.map((process) => process.ended())).toEqual([undefined, undefined, undefined, undefined]);
    expect(problems(world)).toEqual([]);
  });

  test.each([10_000, 1_000])(
    "a bucket is released only after writes of unknown outcome can no longer happen, also when aborted after %i ms",
    async (drainMs) => {
      const world = await lateWrites(drainMs);
      expect(world.violations).toEqual([]);
      expect(world.counts()).toEqual({ m1: 65 });
    },
  );
});

describe("when members differ", () => {
  test("clocks that go at different rates do no harm", async () => {
    const world = await settled(1);
    world.add(1.09);
    world.add(0.91);
    await world.clock.advance(2 * MINUTE);
    expect(problems(world)).toEqual([]);
    const [, fast, slow] = world.processes as [ProcessHandle, ProcessHandle, ProcessHandle];
    const letGo = slow.clock.pause();
    await world.clock.advance(20 * SECOND);
    letGo();
    world.kill(fast);
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
  });

  test("a member with another sharding scheme does not take part, and reports why", async () => {
    const world = new ShardWorld();
    await world.client.resource(configMaps).create({
      metadata: { namespace: "kube-system", name: "kubewright-assignment" },
      data: { assignment: '{"hash":"sha1","buckets":8,"entries":[]}' },
    });
    await world.start(1);
    await world.clock.advance(MINUTE);
    const { member } = lastProcess(world);
    expect(member.isReady).toBe(false);
    expect(member.status().problem).toBe(
      "the assignment has 8 buckets by sha1, this version 64 by fnv1a64-murmur3-64: stop the other version first",
    );
    await world.client.resource(configMaps).delete("kubewright-assignment", { namespace: "kube-system" });
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
  });

  test("it creates its own assignment only one lease duration after the other is deleted", async () => {
    const world = new ShardWorld();
    const place = { namespace: "kube-system", name: "kubewright-assignment" };
    const data = { assignment: '{"hash":"sha1","buckets":8,"entries":[]}' };
    await world.client.resource(configMaps).create({ metadata: place, data });
    await world.start(1);
    await world.clock.advance(MINUTE);
    await world.client.resource(configMaps).delete(place.name, { namespace: place.namespace });
    await world.clock.advance(14 * SECOND);
    expect(world.assignment).toBeUndefined();
    await world.clock.advance(6 * SECOND);
    expect(world.counts()).toEqual({ m1: 65 });
  });

  test("a bucket that does not sync at one member goes to another", async () => {
    const world = await settled(2, { isStuck: (identity, bucket) => identity === "m1" && bucket % 8 === 0 });
    await world.clock.advance(2 * MINUTE);
    expect(world.violations).toEqual([]);
    expect(allBuckets.filter((bucket) => bucket % 8 === 0).map((bucket) => world.owners()[bucket])).toEqual(
      Array.from({ length: BUCKETS / 8 + 1 }, () => "m2"),
    );
    expect(world.idleBuckets(25 * SECOND)).toEqual([]);
  });
});

describe("when the work of a bucket ends", () => {
  const BUCKET = 7;

  test("because it failed at all members, it pauses for 5 s, then longer, and never for more than a minute", async () => {
    let failing = true;
    const failure = (_: string, bucket: number): Error | undefined =>
      failing && bucket === BUCKET ? new Error("no") : undefined;
    const world = await settled(2, { failure });
    let freeMs = 0;
    let longestMs = 0;
    for (let second = 0; second < 15 * 60; second++) {
      const before = world.history[BUCKET]!.length;
      await world.clock.advance(SECOND);
      freeMs = world.history[BUCKET]!.length > before ? 0 : freeMs + SECOND;
      longestMs = Math.max(longestMs, freeMs);
    }
    expect(longestMs).toBeGreaterThan(20 * SECOND);
    expect(longestMs).toBeLessThan(60 * SECOND);
    expect(world.history[BUCKET]!.length).toBeLessThan(60);
    failing = false;
    await world.clock.advance(MINUTE);
    expect(world.idleBuckets(25 * SECOND)).toEqual([]);
    expect(world.violations).toEqual([]);
  });

  test("because a Lease was lost, the same member has it again at once", async () => {
    let lost = 0;
    const failure = (_: string, bucket: number): Error | undefined =>
      bucket === BUCKET && lost++ < 2 ? new LeaseLostError("lost") : undefined;
    const world = await settled(1, { failure });
    expect(world.history[BUCKET]).toEqual(["m1", "m1", "m1"]);
    expect(problems(world)).toEqual([]);
  });
});

describe("when objects are modified externally", () => {
  test("a deleted assignment is recreated once every member has drained", async () => {
    const world = await settled(3);
    await world.deleteAssignment();
    await world.clock.advance(10 * SECOND);
    expect(world.assignment).toBeUndefined();
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
  });

  test("an assignment that is deleted while a member drains", async () => {
    const world = await settled(3);
    const stopped = lastProcess(world).stop();
    await world.clock.advance(60);
    await world.deleteAssignment();
    await world.clock.advance(90 * SECOND);
    await stopped;
    expect(problems(world)).toEqual([]);
  });

  test("a restored backup ends members whose cached view is ahead of the store", async () => {
    const world = await settled(3);
    const snapshot = structuredClone(world.server.snapshot());
    await world.clock.advance(MINUTE);
    await world.restore(snapshot);
    await world.clock.advance(MINUTE);
    for (const process of world.processes.slice(0, 3)) expect(process.ended()).toMatch("lost the lease");
    for (let index = 0; index < 3; index++) world.add();
    await world.clock.advance(2 * MINUTE);
    expect(problems(world)).toEqual([]);
  });

  test("a Lease that is deleted ends its member", async () => {
    const world = await settled(3);
    await world.deleteLease("m1");
    await world.clock.advance(MINUTE);
    expect(world.processes[0]!.ended()).toMatch("it was deleted");
    expect(problems(world)).toEqual([]);
  });
});

describe("under random faults", () => {
  test.each(Array.from({ length: HEAVY ? 300 : 10 }, (_, index) => index + 11))(
    "by seed %i, there is one writer at most",
    async (seed) => {
      const world = await chaos(seed);
      expect(problems(world)).toEqual([]);
    },
  );
});

test("a member whose durations would let two write is refused", () => {
  const { client, clock, server, random } = new ShardWorld();
  const options = { client, clock, random, transport: server.transport, namespace: "a", identity: "b" };
  const runBucket = async (): Promise<void> => {};
  expect(() => new ShardMember({ ...options, runBucket, timing: { renewDeadlineMs: 10_000 } })).toThrow(
    "leaseDuration must be longer, by a quarter, than renewDeadline and requestTimeout together",
  );
});

describe("namespaces that are split", () => {
  const SPLIT = new BucketLayout({ batch: 4, web: 2 });

  test("have a bucket for each part, of which every member has some, and which move as others do", async () => {
    const world = await settled(2, { layout: SPLIT });
    expect(problems(world)).toEqual([]);
    expect(new Set(Object.values(world.counts()))).toEqual(new Set([35, 36]));
    expect(new Set(world.owners().slice(65, 69))).toEqual(new Set(["m1", "m2"]));
    expect(new Set(world.owners().slice(69))).toEqual(new Set(["m1", "m2"]));
    const joined = world.add();
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
    expect(world.owners().slice(65, 69)).toContain("m3");
    void joined.stop();
    await world.clock.advance(5 * SECOND);
    world.kill(world.processes[0]!);
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
    expect(world.counts()).toEqual({ m2: 71 });
  });

  test("a member with other splits than the assignment does not take part and reports it", async () => {
    const world = await settled(2, { layout: SPLIT });
    const before = world.owners();
    const other = world.add(1, new BucketLayout({ batch: 2 }));
    const plain = world.add(1, unsplitLayout);
    await world.clock.advance(5 * MINUTE);
    expect(world.owners()).toEqual(before);
    expect([other.member.isReady, plain.member.isReady]).toEqual([false, false]);
    const way = "start it with the same splits, or stop all that have the others first";
    expect([other.member.status().problem, plain.member.status().problem]).toEqual([
      `the assignment has split batch=4,web=2, this member batch=2: ${way}`,
      `the assignment has split batch=4,web=2, this member no namespace: ${way}`,
    ]);
    expect(other.member.status().buckets.map(({ owner }) => owner)).toEqual(Array.from({ length: 67 }, () => ""));
    expect(world.violations).toEqual([]);
    void other.stop();
    void plain.stop();
    await world.clock.advance(5 * SECOND);
    expect([other.ended(), plain.ended()]).toEqual(["", ""]);
  });

  test("once all members with the old splits have stopped, the first with new splits replaces the layout, and epochs continue", async () => {
    const world = new ShardWorld({ layout: SPLIT });
    await world.start(0);
    const old = [world.add(1, unsplitLayout), world.add(1, unsplitLayout)];
    await world.clock.advance(MINUTE);
    void old[0]!.stop();
    await world.clock.advance(5 * SECOND);
    const highest = Math.max(...world.assignment!.entries.map(({ epoch }) => epoch));
    expect(highest).toBe(2);
    const next = world.add();
    await world.clock.advance(MINUTE);
    expect(next.member.isReady).toBe(false);
    void old[1]!.stop();
    await world.clock.advance(5 * SECOND);
    expect(world.counts()).toEqual({ m3: 71 });
    expect(new Set(world.assignment!.entries.map(({ epoch }) => epoch))).toEqual(new Set([highest + 1]));
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
    expect(next.member.status().problem).toBeUndefined();
  });

  test("also once all members with the old splits are fenced, and not before", async () => {
    const world = new ShardWorld({ layout: SPLIT });
    await world.start(0);
    const old = [world.add(1, unsplitLayout), world.add(1, unsplitLayout)];
    await world.clock.advance(MINUTE);
    const next = [world.add(), world.add()];
    for (const process of old) world.kill(process);
    await world.clock.advance(12 * SECOND);
    expect(world.counts()["m3"] ?? 0).toBe(0);
    await world.clock.advance(MINUTE);
    expect(problems(world)).toEqual([]);
    expect(next.map(({ member }) => member.isReady)).toEqual([true, true]);
    expect(await world.leaseNames()).toEqual(["kubewright-member-m3", "kubewright-member-m4"]);
  });

  test("a member whose watches hang does not replace the layout of the others", async () => {
    const world = new ShardWorld({ layout: SPLIT });
    await world.start(0);
    world.add(1, unsplitLayout);
    await world.clock.advance(MINUTE);
    const next = world.add();
    next.fault.areWatchesSilent = true;
    await world.clock.advance(MINUTE);
    expect(world.counts()).toEqual({ m1: 65 });
    expect(next.member.status().problem).toMatch(/^the assignment has split no namespace, this member batch=4,web=2/);
  });

  test("while acquiring is blocked, members with different splits do not keep replacing the layout", async () => {
    const world = new ShardWorld({ layout: SPLIT, blockReason: () => "another manager does the work" });
    await world.start(0);
    world.add(1, unsplitLayout);
    await world.clock.advance(MINUTE);
    const { assignment } = world;
    expect(assignment?.entries).toHaveLength(65);
    world.add();
    await world.clock.advance(MINUTE);
    expect(world.assignment).toBe(assignment);
  });

  test("of two members with different splits and no assignment, one takes part", async () => {
    const world = new ShardWorld({ layout: SPLIT });
    await world.start(0);
    const first = world.add(1, unsplitLayout);
    await world.clock.advance(MINUTE);
    void first.stop();
    await world.clock.advance(5 * SECOND);
    const next = [world.add(1, SPLIT), world.add(1, new BucketLayout({ batch: 3 }))];
    const versions = new Set<string | undefined>();
    for (let second = 0; second < 60; second++) {
      await world.clock.advance(SECOND);
      const { items } = await world.client.resource(configMaps).list({ namespace: "kube-system" });
      versions.add(items[0]?.metadata.resourceVersion);
    }
    expect(next.filter(({ member }) => member.isReady)).toHaveLength(1);
    expect(world.violations).toEqual([]);
    expect(versions.size).toBeLessThan(5);
  });
});
