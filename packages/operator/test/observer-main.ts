/**
 * An operator as a process, for `process.test.ts`: writes its process id into every ConfigMap with its label. LEASE_MS:
 * lease duration after which others take over when it is killed. It must not be kept from renewing its Lease for that
 * long, or it exits.
 */
import { configMaps } from "@kubewright/api";
import { createOperator, runOperator, where } from "@kubewright/operator";
import { deny, validatingWebhook } from "@kubewright/operator/webhooks";

const leaseDurationMs = Number(process.env["LEASE_MS"] ?? 120_000);
const operator = createOperator({
  name: "observer",
  leaderElection: { leaseDurationMs, renewDeadlineMs: leaseDurationMs - 1_000, retryPeriodMs: 500 },
  stopTimeoutMs: 2_000,
});
operator
  .controllerFor(configMaps, { predicate: where(({ metadata }) => metadata.labels?.observe !== undefined) })
  .reconcile(async ({ object, client, log, clock }) => {
    const { observe } = object.metadata.labels ?? {};
    log.info({ observe }, "Looking");
    if (observe === "slowly") await clock.sleep(1_000);
    if (observe === "endlessly") await clock.sleep(3_600_000);
    await client.apply(configMaps, {
      metadata: { name: object.metadata.name!, namespace: object.metadata.namespace! },
      data: { pid: String(process.pid) },
    });
  });
await runOperator(operator, {
  webhooks: [
    validatingWebhook(configMaps, ({ object }) =>
      object.data?.pid === "0" ? deny("no process has that id") : undefined,
    ),
  ],
});
