import { leases, namespaces } from "@kubewright/api";
import { realClock, seededRandom } from "@kubewright/clock";
import { expect, test } from "vitest";

import { embeddedApiServer } from "../../../conformance/api-server.ts";
import { createFreeAssignment } from "./free-assignment.js";
import { JobAudit } from "./job-audit.js";
import { auditedJob } from "./audited-jobs.js";
import type { Scope } from "./scope.js";
import { launchCluster } from "./launched-cluster.js";
import { ShardAudit } from "./shard-audit.js";
import { ShardedReplicas } from "./sharded-replicas.js";

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
/** A write may be delayed by the time between the renew deadline and the end of the lease. */
const LEASE_MS = 20_000;
const RENEW_MS = 6_000;
const BOUND_MS = LEASE_MS - RENEW_MS;
const LEASE = [
  `--leader-elect-lease-duration=${LEASE_MS}ms`,
  `--leader-elect-renew-deadline=${RENEW_MS}ms`,
  "--leader-elect-retry-period=1s",
];
const LEASE_TAKEN_OVER = "Took over the lease of an expired member";
const WORKING = "Working for a bucket";
const POLL_MS = 50;
/** For work in progress when all Jobs are complete. */
const SETTLE_MS = 30_000;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await realClock.sleep(POLL_MS);
}

type World = Awaited<ReturnType<typeof setUp>>;

async function setUp(scope: Scope, namespaceCount: number) {
  const flags = ["--controllers", "", "--kubelet", "simulated", "--feature-gates=ShardedListAndWatch=true"];
  const { client, url } = await launchCluster(scope, embeddedApiServer(flags));
  const audit = await ShardAudit.start(scope, url, BOUND_MS);
  const names = Array.from({ length: namespaceCount }, (_, index) => `team-${index}`);
  for (const name of names) await client.resource(namespaces).create({ metadata: { name } });
  await createFreeAssignment(client);
  const jobAudit = await JobAudit.start(scope, client);
  const replicas = new ShardedReplicas(scope, [`--master=${audit.url}`, "--controllers=job", ...LEASE]);
  const create = (from: number, to: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) =>
        jobAudit.create(`job-${from + index}`, auditedJob(from + index), names[(from + index) % names.length]),
      ),
    );
  return { audit, jobAudit, replicas, create, client };
}

/**
 * Checks that each Job has exact counts and exactly as many pods as it needs. Also checks that no pod has its
 * finalizer, and that no replica wrote to a bucket of another.
 */
async function expectExact({ audit, jobAudit }: World): Promise<void> {
  const untilMs = realClock.monotonic() + SETTLE_MS;
  while ((await jobAudit.violations()).length > 0 && realClock.monotonic() < untilMs) await realClock.sleep(POLL_MS);
  const wrong = await jobAudit.violations();
  const history = wrong.flatMap((line) => [line, ...audit.history(line.split("/", 1)[0]!)]);
  const { slowWrites } = audit;
  const busyNote =
    slowWrites.length === 0 ? [] : [`writes were held up for more than ${BOUND_MS} ms: too busy a machine`];
  expect(wrong, [...busyNote, ...slowWrites, ...history].join("\n")).toEqual([]);
  expect(audit.violations(), [...busyNote, ...slowWrites].join("\n")).toEqual([]);
}

if (!HEAVY)
  console.log(
    "SKIPPED: replicas that share work, as processes that are killed, stopped and paused beyond their lease: npm run test:heavy",
  );

test.runIf(HEAVY)(
  "Jobs are each completed once, with exact counts, while replicas are paused beyond their lease, killed, added and stopped",
  async (scope) => {
    const world = await setUp(scope, 12);
    const { audit, jobAudit, replicas, create, client } = world;
    const [first, second, third] = [replicas.add(), replicas.add(), replicas.add()];
    await until(() => replicas.count(WORKING) >= 65);
    await create(0, 15);
    await jobAudit.waitForComplete(5);
    replicas.pause(first);
    await create(15, 30);
    await until(() => replicas.count(LEASE_TAKEN_OVER) > 0);
    replicas.wake(first);
    expect(await first.process.exit).toMatchObject({ code: 1 });
    expect(first.process.stderr).toContain("lost the lease");
    const fourth = replicas.add();
    await create(30, 45);
    // A known member receives free buckets immediately, not only after the membership has been stable for a while.
    const members = async () =>
      (await client.resource(leases).list({ labelSelector: "kubewright.dev/group" })).items.length;
    while ((await members()) < 3) await realClock.sleep(POLL_MS);
    await replicas.stop(second);
    await until(() => fourth.process.stderr.includes(WORKING));
    await create(45, 60);
    await replicas.kill(third);
    await jobAudit.waitForComplete(60);
    await expectExact(world);
    expect(audit.writes).toBeGreaterThan(60);
    await replicas.stop(fourth);
    expect(Object.keys(audit.bucketsByOwner)).toEqual([""]);
  },
);

const JOBS = 2_000;
const NAMESPACES = 200;
const REPLICAS = 4;
const FAULT_EVERY_MS = 5_000;
/** Maximum number of unfinished Jobs, so that some continue while others wait for the end of a lease. */
const MAX_IN_PROGRESS = 500;
const WAVE = 50;

test.runIf(HEAVY)(
  `${JOBS} Jobs in ${NAMESPACES} namespaces, ${REPLICAS} replicas, and something happens to one of them every few seconds`,
  { timeout: 840_000 },
  async (scope) => {
    const world = await setUp(scope, NAMESPACES);
    const { audit, jobAudit, replicas, create } = world;
    const random = seededRandom(19);
    for (let index = 0; index < REPLICAS; index++) replicas.add();
    await until(() => replicas.count(WORKING) >= 65);
    const begin = performance.now();
    const done: Record<string, number> = { killed: 0, stopped: 0, paused: 0, added: 0 };
    const waking: Promise<void>[] = [];
    const fault = (): void => {
      const { working } = replicas;
      if (working.length < REPLICAS) {
        done["added"]!++;
        replicas.add();
        return;
      }
      const replica = working[Math.floor(random.next() * working.length)]!;
      const kind = ["killed", "stopped", "paused"][Math.floor(random.next() * 3)]!;
      done[kind]!++;
      if (kind === "killed") void replicas.kill(replica);
      else if (kind === "stopped") void replicas.stop(replica);
      else {
        replicas.pause(replica);
        // The pause may end within the lease or exceed it.
        const pauseMs = 2_000 + random.next() * 1.5 * LEASE_MS;
        waking.push(realClock.sleep(pauseMs).then(() => replicas.wake(replica)));
      }
    };
    const stop = new AbortController();
    const faults = (async () => {
      while (!stop.signal.aborted) {
        await realClock.sleep(FAULT_EVERY_MS, stop.signal).catch(() => undefined);
        if (!stop.signal.aborted) fault();
      }
    })();
    const seconds = (): string => `${((performance.now() - begin) / 1_000).toFixed(0)} s`;
    for (let from = 0; from < JOBS; from += WAVE) {
      if (from % 250 === 0) console.log(`${seconds()}: ${jobAudit.complete} Jobs of ${from} are complete`);
      await jobAudit.waitForComplete(from + WAVE - MAX_IN_PROGRESS);
      await create(from, from + WAVE);
    }
    await jobAudit.waitForComplete(JOBS);
    stop.abort();
    await faults;
    await Promise.all(waking);
    await expectExact(world);
    expect(audit.writes).toBeGreaterThan(JOBS);
    console.log(
      `${JOBS} Jobs in ${seconds()}: ${JSON.stringify(done)}, ` +
        `${replicas.all.length} processes, ${audit.takeovers} takeovers of buckets, ${audit.writes} writes`,
    );
  },
);
