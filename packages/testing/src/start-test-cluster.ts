import { type CustomResourceDefinition, type DeepReadonly } from "@kubewright/api";
import { seededRandom, silentLogger } from "@kubewright/clock";
import type { ControllerName, FaultyClusterOptions } from "@kubewright/cluster";

import { startInProcess } from "./in-process-backend.js";
import { TestCluster } from "./test-cluster.js";

export interface TestClusterOptions {
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
}

const START = "2026-01-01T00:00:00Z";

/** Starts a cluster for one test; `await using` ends it with the test. @throws RangeError for a start that is no time. */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { start = START, seed = 1, controllers, kubelet = "simulated", crds = [], embedded } = options;
  const startMs = Date.parse(start);
  if (Number.isNaN(startMs)) throw new RangeError(`start: ${JSON.stringify(start)} is not a time like ${START}`);
  const random = seededRandom(seed);
  const backend = await startInProcess({
    logger: silentLogger,
    freeze: true,
    ...embedded,
    startMs,
    random: random.fork("cluster"),
    kubelet,
    ...(controllers === undefined ? {} : { controllers }),
  });
  const cluster = new TestCluster(backend, random.fork("test"));
  try {
    await cluster.install(...crds);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}
