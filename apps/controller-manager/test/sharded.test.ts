import { configMaps, leases, namespaces } from "@kubewright/api";
import { realClock, seededRandom } from "@kubewright/clock";
import { formatAssignment, freeAssignment } from "@kubewright/sharding";
import { expect, test } from "vitest";

import { embeddedApiServer } from "../../../conformance/api-server.ts";
import { JobLedger } from "./job-ledger.js";
import type { Scope } from "./scope.js";
import { serveCluster } from "./served-cluster.js";
import { ShardAudit } from "./shard-audit.js";
import { ShardedReplicas } from "./sharded-replicas.js";

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
/** As short as they can be with the usual 4 s for a request. */
const LEASE = [
  "--leader-elect-lease-duration=8s",
  "--leader-elect-renew-deadline=2400ms",
  "--leader-elect-retry-period=1s",
];
const SEIZED = "Took the lease of a silent member";
const WORKING = "Working for a bucket";
const POLL_MS = 50;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await realClock.sleep(POLL_MS);
}

function specOf(index: number) {
  const shape = [
    { completions: 1, parallelism: 1 },
    { completions: 3, parallelism: 2 },
    { completions: 4, parallelism: 4, completionMode: "Indexed" },
  ][index % 3]!;
  const annotations = { "sim.kubewright.dev/duration": "100ms..500ms", "sim.kubewright.dev/startup-delay": "0s" };
  const container = { name: "main", image: "busybox", command: ["true"] };
  return {
    ...shape,
    template: { metadata: { annotations }, spec: { restartPolicy: "Never", containers: [container] } },
  };
}

type World = Awaited<ReturnType<typeof setUp>>;

async function setUp(scope: Scope, namespaceCount: number) {
  const flags = ["--controllers", "", "--kubelet", "simulated", "--feature-gates=ShardedListAndWatch=true"];
  const { client, url } = await serveCluster(scope, embeddedApiServer(flags));
  const audit = await ShardAudit.start(scope, url);
  const names = Array.from({ length: namespaceCount }, (_, index) => `team-${index}`);
  for (const name of names) await client.resource(namespaces).create({ metadata: { name } });
  // As after all have stopped: nobody need wait until nobody can have anything.
  const data = { assignment: formatAssignment(freeAssignment) };
  const metadata = { name: "kubewright-assignment", namespace: "kube-system" };
  await client.resource(configMaps).create({ metadata, data });
  const ledger = await JobLedger.open(scope, client);
  const replicas = new ShardedReplicas(scope, [`--master=${audit.url}`, "--controllers=job", ...LEASE]);
  const create = (from: number, to: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: to - from }, (_, index) =>
        ledger.create(`job-${from + index}`, specOf(from + index), names[(from + index) % names.length]),
      ),
    );
  return { audit, ledger, replicas, create, client };
}

/**
 * Each Job has its counts, and no pod its finalizer. As long as no write outlasted the patience of its sender, no Job has more pods
 * than it needs either, and nobody wrote for a bucket of another. On a machine that is too busy for that, what was given up for lost
 * may come all the same and be done again, and the surplus is deleted, as by kube-controller-manager.
 */
async function expectExact({ audit, ledger, replicas }: World): Promise<void> {
  const isFair = (): boolean => audit.heldUp.length === 0 && !replicas.said.includes("no answer within");
  const wrong = async (): Promise<string[]> =>
    (await ledger.audit()).filter((line) => isFair() || !/ pods for \d+ completions$/.test(line));
  const untilMs = realClock.monotonic() + 60_000;
  while ((await wrong()).length > 0 && realClock.monotonic() < untilMs) await realClock.sleep(POLL_MS);
  const left = await wrong();
  const story = left.flatMap((line) => [line, ...audit.history(line.split("/", 1)[0]!)]).join("\n");
  expect(left, story).toEqual([]);
  expect(isFair() ? audit.violations() : []).toEqual([]);
  if (!isFair())
    console.log(
      `writes took longer than their senders wait on this machine, such as ${audit.heldUp[0] ?? "in a client"}`,
    );
}

if (!HEAVY)
  console.log(
    "SKIPPED: replicas that share work, as processes, whose leases last no longer than a busy machine may take for a request: npm run test:heavy",
  );

test.runIf(HEAVY)(
  "Jobs are each completed once, with exact counts, while replicas are paused beyond their lease, killed, added and stopped",
  async (scope) => {
    const world = await setUp(scope, 12);
    const { audit, ledger, replicas, create, client } = world;
    const [first, second, third] = [replicas.add(), replicas.add(), replicas.add()];
    await until(() => replicas.count(WORKING) >= 65);
    await create(0, 15);
    await ledger.reaches(5);
    replicas.pause(first);
    await create(15, 30);
    await until(() => replicas.count(SEIZED) > 0);
    replicas.wake(first);
    expect(await first.process.exit).toMatchObject({ code: 1 });
    expect(first.process.stderr).toContain("lost the lease");
    const fourth = replicas.add();
    await create(30, 45);
    // One that is known gets of what becomes free at once, and not only when all have been the same for a while.
    const members = async () =>
      (await client.resource(leases).list({ labelSelector: "kubewright.dev/group" })).items.length;
    while ((await members()) < 3) await realClock.sleep(POLL_MS);
    await replicas.stop(second);
    await until(() => fourth.process.stderr.includes(WORKING));
    await create(45, 60);
    await replicas.kill(third);
    await ledger.reaches(60);
    await expectExact(world);
    expect(audit.writes).toBeGreaterThan(60);
    await replicas.stop(fourth);
    expect(Object.keys(audit.owned)).toEqual([""]);
  },
);

const JOBS = 2_000;
const NAMESPACES = 200;
const REPLICAS = 4;
const FAULT_EVERY_MS = 4_000;

test.runIf(HEAVY)(
  `${JOBS} Jobs in ${NAMESPACES} namespaces, ${REPLICAS} replicas, and something happens to one of them every few seconds`,
  { timeout: 1_800_000 },
  async (scope) => {
    const world = await setUp(scope, NAMESPACES);
    const { audit, ledger, replicas, create } = world;
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
        // From within the lease to beyond it.
        const pauseMs = 3_000 + random.next() * 9_000;
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
    // In waves, so that there is always something under way.
    for (let from = 0; from < JOBS; from += 50) {
      await create(from, from + 50);
      await ledger.reaches(Math.max(0, from - 100));
    }
    await ledger.reaches(JOBS);
    stop.abort();
    await faults;
    await Promise.all(waking);
    await expectExact(world);
    expect(audit.writes).toBeGreaterThan(JOBS);
    console.log(
      `${JOBS} Jobs in ${((performance.now() - begin) / 1_000).toFixed(0)} s: ${JSON.stringify(done)}, ` +
        `${replicas.all.length} processes, ${audit.takeovers} takeovers of buckets, ${audit.writes} writes`,
    );
  },
);
