import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { type SimulatedClock, seededRandom } from "@kubewright/clock";
import { LeaderElector } from "@kubewright/controller";
import { expect, test } from "vitest";

import { operationsBench } from "../../test/operations-bench.js";

async function answer(ask: Promise<{ status: number; body: string }>): Promise<[number, string]> {
  const { status, body } = await ask;
  return [status, body];
}

test("case 33: /healthz is a ping until controllers are built, then lists each by name", async () => {
  const { ask, operations } = await operationsBench();
  expect(await answer(ask("/healthz"))).toEqual([200, "ok"]);
  expect(await answer(ask("/healthz?verbose"))).toEqual([200, "[+]ping ok\nhealthz check passed\n"]);
  operations.health.addControllers(["job-controller", "cronjob-controller"]);
  expect(await answer(ask("/healthz?verbose"))).toEqual([
    200,
    "[+]cronjob-controller ok\n[+]job-controller ok\nhealthz check passed\n",
  ]);
});

test("case 34: verbose has any value", async () => {
  const { ask } = await operationsBench();
  for (const query of ["verbose=false", "verbose=", "verbose"])
    expect(await answer(ask(`/healthz?${query}`))).toEqual([200, "[+]ping ok\nhealthz check passed\n"]);
  const { headers } = await ask("/healthz");
  expect(headers).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
});

test("cases 35 to 37: a leader that does not renew fails 20 s after its Lease, and can be excluded", async () => {
  const { ask, operations, clock } = await operationsBench();
  const { transport } = createApiServer({ clock, random: seededRandom(1) });
  let stuck = false;
  const elector = new LeaderElector({
    // A request that never ends and never times out simulates a process that hangs.
    client: new Client({ transport: (request) => (stuck ? new Promise(() => {}) : transport(request)), clock }),
    clock: withoutTimersWhen(clock, () => stuck),
    random: seededRandom(2),
    namespace: "kube-system",
    name: "kube-controller-manager",
    identity: "me",
    callbacks: { onStartedLeading: () => {}, onStoppedLeading: () => {} },
  });
  operations.health.watchLeader(elector);
  expect((await ask("/healthz")).status).toBe(200);
  void elector.run(new AbortController().signal);
  await clock.advance(1_000);
  expect(elector.isLeader).toBe(true);
  stuck = true;
  await clock.advance(15_000 + 18_000);
  expect(await answer(ask("/healthz?verbose"))).toEqual([200, "[+]leaderElection ok\nhealthz check passed\n"]);
  await clock.advance(3_000);
  const failed = "[-]leaderElection failed: reason withheld\n";
  expect(await answer(ask("/healthz"))).toEqual([500, `${failed}healthz check failed\n`]);
  expect(await answer(ask("/livez"))).toEqual([500, `${failed}livez check failed\n`]);
  expect(await answer(ask("/livez/leaderElection"))).toEqual([
    500,
    "internal server error: failed election to renew leadership on lease kube-controller-manager\n",
  ]);
  expect(await answer(ask("/healthz?exclude=leaderElection"))).toEqual([200, "ok"]);
  expect(await answer(ask("/healthz?exclude=leaderElection&exclude=x&verbose"))).toEqual([
    200,
    '[+]leaderElection excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
  ]);
});

/** Wraps a clock so that no timer fires while `stuck()` returns true. */
function withoutTimersWhen(clock: SimulatedClock, stuck: () => boolean): SimulatedClock {
  return new Proxy(clock, {
    get(target, name) {
      if (stuck() && (name === "sleep" || name === "setTimer"))
        return name === "sleep" ? () => new Promise(() => {}) : () => ({ cancel() {} });
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

test("case 40: /readyz passes for a standby, and for a leader once its caches are filled", async () => {
  const { ask, operations, stop } = await operationsBench();
  const unready = "[-]informer-sync failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n";
  expect(await answer(ask("/readyz"))).toEqual([500, unready]);
  operations.health.setStandingBy();
  expect(await answer(ask("/readyz"))).toEqual([200, "ok"]);
  const caches = Promise.withResolvers<void>();
  const filling = operations.health.trackCacheSync(() => caches.promise);
  expect(await answer(ask("/readyz"))).toEqual([500, unready]);
  expect(await answer(ask("/readyz/informer-sync"))).toEqual([
    500,
    "internal server error: not ready: filling caches\n",
  ]);
  // A leader does not become a standby again.
  operations.health.setStandingBy();
  expect((await ask("/readyz")).status).toBe(500);
  caches.resolve();
  await filling;
  expect(await answer(ask("/readyz?verbose"))).toEqual([
    200,
    "[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n",
  ]);
  stop();
  expect(await answer(ask("/readyz/shutdown"))).toEqual([500, "internal server error: process is shutting down\n"]);
  expect((await ask("/healthz")).status).toBe(200);
});

test("single checks are below /livez and /readyz, as everywhere, but not below /healthz, as upstream", async () => {
  const { ask } = await operationsBench();
  expect(await answer(ask("/livez/ping"))).toEqual([200, "ok"]);
  for (const path of ["/healthz/ping", "/livez/nope", "/readyz/", "/healthz/", "/", "/nope"])
    expect(await answer(ask(path))).toEqual([404, "404 page not found\n"]);
});

test("case 56: /metrics/slis counts check results until it is reset", async () => {
  const { ask } = await operationsBench();
  await ask("/healthz");
  await ask("/healthz");
  await ask("/readyz");
  const lines = (await ask("/metrics/slis")).body.split("\n");
  expect(lines).toContain('kubernetes_healthcheck{name="ping",type="healthz"} 1');
  expect(lines).toContain('kubernetes_healthcheck{name="informer-sync",type="readyz"} 0');
  expect(lines).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} 2');
  expect(lines).toContain('kubernetes_healthchecks_total{name="informer-sync",status="error",type="readyz"} 1');
  expect(lines).toContain("process_start_time_seconds 1.7672256e+09");
  expect(await answer(ask("/metrics/slis", { method: "DELETE" }))).toEqual([200, "metrics reset\n"]);
  expect((await ask("/metrics/slis")).body).not.toContain("kubernetes_healthchecks_total{");
  await ask("/healthz");
  expect((await ask("/metrics/slis")).body).toContain(
    'kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} 1\n',
  );
});

test("/readyz?verbose shows that a bucket has no owner", async () => {
  const { ask, operations } = await operationsBench();
  const bucketsWithoutOwner: string[] = [];
  operations.health.trackShardMember({ isReady: true, holdsLease: true, bucketsWithoutOwner });
  expect((await ask("/readyz?verbose")).body).toContain("[+]bucket-owners ok\n");
  bucketsWithoutOwner.push("cluster", "07");
  expect((await ask("/readyz?verbose")).body).toContain("[-]bucket-owners failed: reason withheld\n");
  expect(await answer(ask("/readyz/bucket-owners"))).toEqual([
    500,
    "internal server error: not ready: no owner of buckets cluster, 07\n",
  ]);
});
