import { type CustomResourceDefinition, type DeepReadonly } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import type { ControllerName, FaultyClusterOptions } from "@kubewright/cluster";

import type { Duration } from "./duration.js";
import { startBackend } from "./start-backend.js";
import { TestCluster } from "./test-cluster.js";
import type { TestServer } from "./test-server.js";

export interface TestClusterOptions {
  /**
   * What it is: `in-process`; `serve`, a `kubewright serve` that is started for it; the URL of a `kubewright serve --speed
   * manual` that is running, which is reset; or `kube-apiserver`, out of the folder `KUBEBUILDER_ASSETS`, in real time.
   * Default: what `KUBEWRIGHT_TEST_SERVER` says, else `in-process`.
   */
  readonly against?: TestServer;
  /** Kubernetes' controllers that run in it. Default: all there are. */
  readonly controllers?: readonly ControllerName[];
  /** `none`: neither scheduler nor kubelet nor nodes. Default `simulated`. */
  readonly kubelet?: "simulated" | "none";
  /** Definitions of custom resources to begin with. */
  readonly crds?: readonly DeepReadonly<CustomResourceDefinition>[];
  /** When it begins, in RFC 3339. Default 2026-01-01T00:00:00Z. */
  readonly start?: string;
  /** Equal seeds give equal runs. Default 1. */
  readonly seed?: number;
  /** What else `createFaultyCluster` of `@kubewright/cluster` takes: nodes, webhooks, authorization… Only in process. */
  readonly embedded?: Omit<FaultyClusterOptions, "clock" | "random" | "controllers" | "kubelet">;
  /** Longest {@link TestCluster.advance} on a kube-apiserver, where that is to wait. Default one minute. */
  readonly maxRealWait?: Duration;
}

const START = "2026-01-01T00:00:00Z";

/**
 * Starts a cluster for one test; `await using` ends it with the test.
 *
 * @throws RangeError for a start that is no time; Error that says what is missing when it cannot be what was asked for.
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
