import { leases } from "@kubewright/api";
import { Client } from "@kubewright/client";
import { LeaderElector } from "@kubewright/controller";
import { expect, test } from "vitest";

import "../src/vitest.js";
import { type TestEnvironment, startTestCluster } from "../src/index.js";

/** An object with the interface of an operator of `@kubewright/operator`. It records when it leads. */
function operator(leads: string[]) {
  return {
    name: "elected",
    controllers: [],
    run: ({ transport, clock, random, signal, logger, identity, leaseName = "elected" }: Environment) =>
      new LeaderElector({
        client: new Client({ transport, clock, userAgent: "elected" }),
        clock,
        random,
        logger,
        identity,
        namespace: "default",
        name: leaseName,
        releaseOnCancel: true,
        callbacks: {
          onStartedLeading: async (leading) => {
            leads.push(`${identity} leads`);
            await new Promise((resolve) => leading.addEventListener("abort", resolve, { once: true }));
          },
          onStoppedLeading: () => void leads.push(`${identity} does not`),
        },
      }).run(signal),
  };
}

interface Environment extends TestEnvironment {
  readonly leaseName?: string;
}

test("of two instances of an operator one leads; the other leads immediately after a stop, and after the lease duration when the leader is killed", async () => {
  await using cluster = await startTestCluster({ kubelet: "none" });
  const leads: string[] = [];
  const first = await cluster.run(operator(leads), { name: "first" });
  const second = await cluster.run(operator(leads), { name: "second" });
  await cluster.advance("1m");
  expect(leads).toEqual(["first leads"]);
  await first.stop();
  await cluster.eventually(() => expect(leads.at(-1)).toBe("second leads"), { within: "3s" });
  const third = await cluster.run(operator(leads), { name: "third" });
  await second.kill();
  await cluster.advance("10s");
  expect(leads).not.toContain("third leads");
  await cluster.eventually(() => expect(leads.at(-1)).toBe("third leads"), { within: "10s" });
  const lease = cluster.object(leases, "elected");
  expect((await lease.get()).spec?.holderIdentity).toBe("third");
  expect(third.requests.every(({ by }) => by === "third")).toBe(true);
});

test("an operator that cannot reach its Lease fails, and its dependencies can be replaced", async () => {
  const cluster = await startTestCluster({ kubelet: "none" });
  const leads: string[] = [];
  await cluster.run(operator(leads), { environment: { leaseName: "another", identity: "me" } });
  expect((await cluster.object(leases, "another").get()).spec?.holderIdentity).toBe("me");
  cluster.faults.disconnect({ by: "elected" });
  await expect(cluster.advance("1m")).rejects.toThrow(/^elected failed: /);
  await cluster.stop();
});
