import { expect, test } from "vitest";

import { embeddedApiServer } from "../../../conformance/api-server.ts";
import { JobAudit } from "./job-audit.js";
import { auditedJob } from "./audited-jobs.js";
import { Replicas, type Takeover } from "./replicas.js";
import { launchCluster } from "./launched-cluster.js";

const HEAVY = process.env["KUBEWRIGHT_HEAVY"] === "1";
const JOBS = HEAVY ? 500 : 60;
const KILLS = HEAVY ? 16 : 4;
const LEASE_SECONDS = 4;
const RETRY_SECONDS = 0.5;
const LEASE = [
  `--leader-elect-lease-duration=${LEASE_SECONDS}s`,
  "--leader-elect-renew-deadline=3s",
  `--leader-elect-retry-period=${RETRY_SECONDS * 1_000}ms`,
];
/** About upstream's client limit: the Jobs last long enough for all kills, and each kill interrupts writes. */
const LIMIT = ["--kube-api-qps=60", "--kube-api-burst=60"];

/** Additional time for each takeover on a busy machine. */
const SLACK_SECONDS = 5;

test(
  `${JOBS} Jobs are each completed once, with exact counts, by two replicas whose leader is killed ${KILLS} times`,
  { timeout: HEAVY ? 1_200_000 : 300_000 },
  async (scope) => {
    const server = embeddedApiServer(["--controllers", "", "--kubelet", "simulated"], { secure: true });
    const { client, kubeconfig } = await launchCluster(scope, server);
    const jobAudit = await JobAudit.start(scope, client);
    const replicas = new Replicas(scope, [`--kubeconfig=${kubeconfig}`, ...LEASE, ...LIMIT]);
    const begin = performance.now();
    await Promise.all(Array.from({ length: JOBS }, (_, index) => jobAudit.create(`job-${index}`, auditedJob(index))));

    const takeovers: Takeover[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await jobAudit.waitForComplete(Math.floor((JOBS * kill) / (KILLS + 1)));
      takeovers.push(await replicas.endLeader(kill % 2 === 0 ? "SIGTERM" : "SIGKILL"));
    }
    await jobAudit.waitForComplete(JOBS);
    await expect.poll(() => jobAudit.violations(), { timeout: 60_000, interval: 500 }).toEqual([]);

    const seconds = (signal: Takeover["signal"]): number[] =>
      takeovers
        .filter((takeover) => takeover.signal === signal)
        .map(({ durationMs }) => Math.round(durationMs / 10) / 100);
    const [handedOver, expired] = [seconds("SIGTERM"), seconds("SIGKILL")];
    console.log(
      `${JOBS} Jobs in ${((performance.now() - begin) / 1_000).toFixed(1)} s by ${replicas.started} processes; ` +
        `takeover after SIGTERM ${handedOver.join(", ")} s; after SIGKILL, with a lease of ${LEASE_SECONDS} s, ${expired.join(", ")} s`,
    );
    // The duration of a takeover is also tested in virtual time. Here it is measured only if no other test runs.
    if (!HEAVY) return;
    expect(median(handedOver)).toBeLessThanOrEqual(3);
    expect(Math.max(...handedOver)).toBeLessThanOrEqual(3 + SLACK_SECONDS);
    expect(Math.max(...expired)).toBeLessThanOrEqual(LEASE_SECONDS + 2.2 * RETRY_SECONDS + SLACK_SECONDS);
  },
);

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
