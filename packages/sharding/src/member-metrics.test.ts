import { expect, test } from "vitest";

import { ShardWorld } from "../test/shard-world.js";
import type { MemberMetrics } from "./shard-metrics.js";

test("a member measures live members, owned buckets, handoffs by reason, and fenced writes", async () => {
  const owned = new Set<string>();
  const handoffs: Record<string, number> = {};
  const fenced: Record<string, number> = {};
  const seconds: number[] = [];
  let members = 0;
  let withoutOwner = -1;
  const metrics: MemberMetrics = {
    setMembers: (live) => (members = live),
    setOwner: (bucket, isOwner) => void (isOwner ? owned.add(bucket) : owned.delete(bucket)),
    countHandoff: (reason) => (handoffs[reason] = (handoffs[reason] ?? 0) + 1),
    observeTakeover: (duration) => seconds.push(duration),
    countFencedWrite: (_, reason) => (fenced[reason] = (fenced[reason] ?? 0) + 1),
    countConflict: () => {},
    setBucketsWithoutOwner: (count) => (withoutOwner = count),
  };
  const world = new ShardWorld({ metrics: (identity) => (identity === "m1" ? metrics : undefined) });
  await world.start(1);
  await world.clock.advance(60_000);
  expect([members, owned.size, handoffs, seconds.length]).toEqual([1, 65, { free: 65 }, 65]);
  expect(withoutOwner).toBe(0);
  expect(Math.max(...seconds)).toBeLessThan(0.5);
  world.add();
  await world.clock.advance(60_000);
  expect([members, owned.size, handoffs]).toEqual([2, 33, { free: 65, balance: 32 }]);
  expect(fenced).toEqual({});
  world.kill(world.processes[1]!);
  await world.clock.advance(30_000);
  expect([members, owned.size, handoffs]).toEqual([1, 65, { free: 65, balance: 32, dead: 32 }]);
  const letGo = world.processes[0]!.clock.pause();
  await world.clock.advance(20_000);
  letGo();
  await world.clock.advance(2_000);
  expect(fenced["lease"]).toBeGreaterThan(0);
  const { members: live, buckets, problem } = world.processes[0]!.member.status();
  expect([live, problem]).toEqual([["m1"], undefined]);
  expect(buckets[64]).toEqual({ name: "cluster", owner: "m1", epoch: expect.any(Number), state: "active" });
  const stopped = world.processes[0]!.stop();
  await world.clock.advance(60_000);
  await stopped;
  expect([owned.size, handoffs["stop"]]).toEqual([0, 65]);
});
