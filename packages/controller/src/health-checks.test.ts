import { leases, mutableCopy } from "@kubewright/api";
import { createApiServer } from "@kubewright/apiserver";
import { Client } from "@kubewright/client";
import { SimulatedClock, seededRandom, silentLogger } from "@kubewright/clock";
import { expect, test } from "vitest";

import { HealthChecks } from "./health-checks.js";
import { LeaderElector } from "./leader-elector.js";

function ask(checks: HealthChecks, query = "") {
  return checks.report("healthz", new URLSearchParams(query));
}

test("when all pass the answer is ok, without a newline", async () => {
  const checks = new HealthChecks();
  checks.add("job-controller");
  expect(await ask(checks)).toEqual({ status: 200, body: "ok" });
});

test.each(["verbose", "verbose=false", "verbose="])(
  "?%s lists the checks in the order they were added",
  async (query) => {
    const checks = new HealthChecks();
    checks.add("leaderElection");
    checks.add("cronjob-controller", async () => {});
    checks.add("job-controller");
    expect(await ask(checks, query)).toEqual({
      status: 200,
      body: "[+]leaderElection ok\n[+]cronjob-controller ok\n[+]job-controller ok\nhealthz check passed\n",
    });
  },
);

test("one that fails shows all without being asked, and withholds the reason from everybody but the log", async () => {
  const logged: unknown[] = [];
  const checks = new HealthChecks({ logger: { ...silentLogger, info: (fields) => void logged.push(fields) } });
  checks.add("a");
  checks.add("b", () => new Error("disk on fire"));
  checks.add("c", () => {
    throw new Error("threw");
  });
  checks.add("d", () => Promise.reject(new Error("rejected")));
  expect(await ask(checks)).toEqual({
    status: 500,
    body:
      "[+]a ok\n[-]b failed: reason withheld\n[-]c failed: reason withheld\n[-]d failed: reason withheld\n" +
      "healthz check failed\n",
  });
  expect(logged).toEqual([
    { endpoint: "healthz", check: "b", err: "disk on fire" },
    { endpoint: "healthz", check: "c", err: "threw" },
    { endpoint: "healthz", check: "d", err: "rejected" },
  ]);
});

test("an excluded check is not run; one that does not exist is warned of", async () => {
  const checks = new HealthChecks();
  checks.add("a");
  checks.add("b", () => expect.unreachable("it was run"));
  expect(await ask(checks, "exclude=b")).toEqual({ status: 200, body: "ok" });
  expect(await ask(checks, "exclude=b&exclude=nope&exclude=x&verbose")).toEqual({
    status: 200,
    body:
      "[+]a ok\n[+]b excluded: ok\n" +
      'warn: some health checks cannot be excluded: no matches for "nope","x"\nhealthz check passed\n',
  });
});

test("without any check there is ping, until the first is added", async () => {
  const checks = new HealthChecks();
  expect((await checks.report("readyz", new URLSearchParams("verbose"))).body).toBe(
    "[+]ping ok\nreadyz check passed\n",
  );
  expect(await checks.reportOne("readyz", "ping")).toEqual({ status: 200, body: "ok" });
  checks.add("job-controller");
  expect(await checks.reportOne("readyz", "ping")).toBeUndefined();
});

test("a check by itself says why it fails", async () => {
  const checks = new HealthChecks();
  checks.add("a", () => new Error("disk on fire"));
  expect(await checks.reportOne("healthz", "a")).toEqual({
    status: 500,
    body: "internal server error: disk on fire\n",
  });
});

test("a name that is taken or empty is refused", () => {
  const checks = new HealthChecks();
  checks.add("a");
  expect(() => checks.add("a")).toThrow('there is a health check "a" already');
  expect(() => checks.add("")).toThrow("a health check needs a name");
});

test("a leader that cannot renew fails from 20 s past the lease on; a standby passes", async () => {
  const clock = new SimulatedClock("2026-01-01T00:00:00Z");
  const server = createApiServer({ clock, random: seededRandom(1) });
  let reachable = true;
  const client = new Client({
    clock,
    transport: (request) => (reachable ? server.transport(request) : new Promise<never>(() => {})),
  });
  const checks = new HealthChecks();
  // The process does not exit when the lease is lost, so the elector keeps its last observed record.
  const candidate = (identity: string) =>
    new LeaderElector({
      client,
      clock,
      random: seededRandom(2),
      namespace: "kube-system",
      name: "kube-controller-manager",
      identity,
      callbacks: { onStartedLeading: () => new Promise<void>(() => {}), onStoppedLeading: () => {} },
    });
  const leader = candidate("a");
  checks.add("leaderElection", () => leader.checkHealth(20_000));
  expect((await ask(checks)).status).toBe(200);
  void leader.run(new AbortController().signal);
  await clock.advance(100);
  reachable = false;
  const lease = mutableCopy(
    await new Client({ clock, transport: server.transport })
      .resource(leases)
      .get("kube-controller-manager", { namespace: "kube-system" }),
  );
  const renewedMs = Date.parse(lease.spec!.renewTime as unknown as string);
  await clock.advance(renewedMs + 34_000 - clock.now());
  expect((await ask(checks, "verbose")).body).toBe("[+]leaderElection ok\nhealthz check passed\n");
  await clock.advance(2_000);
  expect(await ask(checks)).toEqual({
    status: 500,
    body: "[-]leaderElection failed: reason withheld\nhealthz check failed\n",
  });
  expect(await ask(checks, "exclude=leaderElection")).toEqual({ status: 200, body: "ok" });
  expect((await checks.reportOne("healthz", "leaderElection"))?.body).toBe(
    "internal server error: failed election to renew leadership on lease kube-controller-manager\n",
  );
  const standby = candidate("b");
  expect(standby.checkHealth(20_000)).toBeUndefined();
});
