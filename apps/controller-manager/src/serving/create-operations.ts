import type { Clock, Random } from "@kubewright/clock";

import { featureGates, resolveFeatureGates } from "../feature-gates.js";
import type { ProcessStats } from "../metrics/process-metrics.js";
import type { ControllerManagerOptions } from "../options.js";
import type { Build } from "../user-agent.js";
import type { Verbosity } from "./debug-flags.js";
import { Operations, type OperationsOptions } from "./operations.js";
import type { ServingIo } from "./serving-io.js";

export interface CreateOperationsOptions {
  readonly options: ControllerManagerOptions;
  readonly build: Build;
  readonly nodeVersion: string;
  /** URL of the API server. */
  readonly server: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: OperationsOptions["logger"];
  readonly verbosity: Verbosity;
  readonly readProcess: () => ProcessStats;
  readonly servingIo: Pick<ServingIo, "readFile">;
}

/**
 * Creates the metrics, health and routes of this process. The process becomes not ready when the signal aborts.
 *
 * @throws Error when the manifest of allowed labels cannot be read.
 */
export async function createOperations(given: CreateOperationsOptions, signal: AbortSignal): Promise<Operations> {
  const { options, servingIo } = given;
  const { enabled } = resolveFeatureGates(options.featureGates);
  const features = featureGates.map(({ name, stage }) => ({
    name,
    stage: stage === "GA" ? ("" as const) : stage,
    enabled: enabled.get(name) ?? false,
  }));
  const labelManifest = await labelManifestIn(options.allowMetricLabelsManifest, servingIo);
  const operations = new Operations({ ...given, features, labelManifest, server: new URL(given.server).host });
  signal.addEventListener("abort", () => operations.health.setStopping(), { once: true });
  if (signal.aborted) operations.health.setStopping();
  return operations;
}

async function labelManifestIn(file: string, io: Pick<ServingIo, "readFile">): Promise<Record<string, unknown>> {
  if (file === "") return {};
  const text = await io.readFile(file);
  const { parse } = await import("yaml");
  const data: unknown = parse(text);
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new Error(`failed to parse allow-list manifest: ${file} is no mapping of "metric,label" to values`);
  return data as Record<string, unknown>;
}
