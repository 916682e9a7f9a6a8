import path from "node:path";

import { jobs, pods } from "@kubewright/api";
import { describe, expect, test } from "vitest";

import { kubeApiServer, missingKubeApiServer } from "../../../conformance/kube-apiserver.ts";
import { type Exit, startManager } from "./manager-process.js";
import type { Scope } from "./scope.js";
import { scratchFolder, launchCluster } from "./launched-cluster.js";
import { job, jobWithCondition, runPods } from "./test-cluster.js";

const FAKE = path.join(import.meta.dirname, "fake-envtest");
const REAL = process.env["KUBEBUILDER_ASSETS"];
const missing = missingKubeApiServer(REAL);
if (missing !== undefined)
  console.log(`kube-apiserver: SKIPPED, its launcher is tested with stand-ins for kube-apiserver and etcd: ${missing}`);

/**
 * Returns the exit of a manager after this work: a Job runs, its pods lose their finalizers, and a Job deleted in the
 * foreground is removed with its pods.
 */
async function exitAfterWork(scope: Scope, assets: string): Promise<Exit> {
  const { client, kubeconfig } = await launchCluster(scope, kubeApiServer(assets));
  runPods(scope, client, 0);
  const manager = startManager(scope, [`--kubeconfig=${kubeconfig}`]);
  await manager.logged("Successfully acquired lease");
  await client.resource(jobs).create(job("pi", { completions: 3, parallelism: 2 }));
  expect((await jobWithCondition(client, "pi", "Complete")).status?.succeeded).toBe(3);
  const left = async (): Promise<readonly (readonly string[])[]> =>
    (await client.resource(pods).list({ namespace: "default" })).items.map(({ metadata }) => metadata.finalizers ?? []);
  await expect.poll(left).toEqual([[], [], []]);
  await client.resource(jobs).delete("pi", { namespace: "default", propagationPolicy: "Foreground" });
  await expect.poll(left).toEqual([]);
  manager.kill("SIGTERM");
  return await manager.exit;
}

describe("the envtest launcher", () => {
  test("starts etcd and kube-apiserver with keys, certificates and a kubeconfig that a manager can use", async (scope) => {
    expect(await exitAfterWork(scope, FAKE)).toEqual({ code: 0, signal: null });
  });

  test("reports the output of kube-apiserver when it does not start, and leaves nothing running", async (scope) => {
    process.env["FAKE_ENVTEST_FAILURE"] = "Error: unknown flag: --profiling";
    scope.onTestFinished(() => void delete process.env["FAKE_ENVTEST_FAILURE"]);
    await expect(kubeApiServer(FAKE).start(scratchFolder(scope))).rejects.toThrow(
      /^kube-apiserver ended with 1:\nError: unknown flag: --profiling/,
    );
  });

  test("says how to get what is missing", () => {
    expect(missingKubeApiServer(undefined)).toContain("KUBEBUILDER_ASSETS is not set: set it to a folder with");
    expect(missingKubeApiServer("/no/such")).toContain("has no kube-apiserver and no etcd: set it");
    expect(missingKubeApiServer(FAKE)).toBeUndefined();
  });

  test.skipIf(missing !== undefined)("starts the real ones too", async (scope) => {
    expect(await exitAfterWork(scope, REAL!)).toEqual({ code: 0, signal: null });
  });
});
