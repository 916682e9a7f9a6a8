import path from "node:path";

import { type Child, freePort, startChild } from "@kubewright/testing/processes";

const BINARY = path.join(import.meta.dirname, "../apps/controller-manager/bin/kubewright-controller-manager.js");

/**
 * Starts `kubewright-controller-manager` in a separate process, with leader election and its HTTPS server, and without
 * a client-side rate limit. Resolves when it leads. It knows the cluster only from its kubeconfig.
 */
export async function startControllerManager(kubeconfig: string, flags: readonly string[]): Promise<Child> {
  const manager = startChild("kubewright-controller-manager", process.execPath, [
    BINARY,
    `--kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${await freePort()}`,
    "--kube-api-qps=-1",
    ...flags,
  ]);
  try {
    await manager.waitForOutput(/Successfully acquired lease/);
    return manager;
  } catch (error) {
    await manager.stop();
    throw error;
  }
}
