import { type CustomResourceDefinition, type DeepReadonly } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import type { ControllerName, FaultyClusterOptions } from "@kubewright/cluster";

import type { DurationLike } from "./duration.js";
import { startBackend } from "./start-backend.js";
import { TestCluster } from "./test-cluster.js";
import type { TestServer } from "./test-server.js";

export interface TestClusterOptions {
  /**
   * Kind of the cluster:
   *
   * - `in-process`
   * - `serve`: a new `kubewright serve` process
   * - the URL of a running `kubewright serve --speed manual`, which is reset
   * - `kube-apiserver`: from the folder `KUBEBUILDER_ASSETS`, in real time
   *
   * Default: the value of `KUBEWRIGHT_TEST_SERVER`, or else `in-process`.
   */
  readonly against?: TestServer;
  /** Kubernetes' controllers that run in the cluster. Default: all. */
  readonly controllers?: readonly ControllerName[];
  /** `none`: no scheduler, kubelet or nodes. Default `simulated`. */
  readonly kubelet?: "simulated" | "none";
  /** CustomResourceDefinitions to create first. */
  readonly crds?: readonly DeepReadonly<CustomResourceDefinition>[];
  /** Initial time, in RFC 3339. Default 2026-01-01T00:00:00Z. */
  readonly start?: string;
  /** Equal seeds give equal runs. Default 1. */
  readonly seed?: number;
  /**
   * Further options of `createFaultyCluster` of `@kubewright/cluster`: nodes, webhooks, authorization and so on. Only
   * in process.
   */
  readonly embedded?: Omit<FaultyClusterOptions, "clock" | "random" | "controllers" | "kubelet">;
  /**
   * Maximum duration of {@link TestCluster.advance} on a kube-apiserver, where it waits in real time. Default one
   * minute.
   */
  readonly maxRealWait?: DurationLike;
}

const START = "2026-01-01T00:00:00Z";

/**
 * Starts a cluster for one test. `await using` stops it at the end of the test.
 *
 * @throws RangeError for an invalid start time; Error with the missing prerequisite when the cluster cannot be started.
 */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { start = START, seed = 1, crds = [], ...rest } = options;
  const startMs = Date.parse(start);
  if (Number.isNaN(startMs)) throw new RangeError(`start: ${JSON.stringify(start)} is not a time like ${START}`);
  const random = seededRandom(seed);
  const backend = await startBackend({ ...rest, startMs, seed, random: random.fork("cluster") });
  const cluster = new TestCluster(backend, random.fork("test"));
  try {
    await cluster.install(...crds);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}
