import { type KubernetesVersion, NEWEST_VERSION } from "@kubewright/api";
import { type AddedNode, type NodeShape, defaultNodes, nodesFor } from "@kubewright/cluster";
import { isTimeZone, suggestTimeZone } from "@kubewright/cron";
import { hasDuration, hasOutcome, withWorkloads } from "@kubewright/simulation";

import { parseDuration } from "../time/duration.js";
import { parseSeed, parseStart } from "./flag-values.js";
import { type ClusterState, type FromClusterFlags, fromCluster } from "./from-cluster.js";
import {
  type InputIo,
  type LoadedManifests,
  type RenderOptions,
  allProblems,
  loadManifests,
} from "./load-manifests.js";
import { type LiveState, liveState } from "./live-state.js";
import type { InputProblem } from "./input-problem.js";
import type { Manifest } from "./manifest.js";
import type { HostProcess } from "../ports/host-process.js";
import { parseKubernetesVersion } from "./kubernetes-version.js";
import { podTemplates } from "./pod-templates.js";
import { nextFullHour, startFlag } from "./run-start.js";
import { PROJECT_FILE } from "./project-file.js";
import { loadScenario } from "../scenario/load-scenario.js";
import { checkDuration } from "../scenario/check-duration.js";
import type { WorkloadEntry } from "@kubewright/simulation";
import type { Scenario } from "../scenario/scenario.js";
import { UserError } from "../errors/user-error.js";
import { type WorkloadFlags, workloadEntries } from "../workloads/workload-flags.js";
import { readWorkloadsFile } from "../workloads/workloads-file.js";

/** The input of a simulation. */
export interface RunInput {
  readonly manifests: readonly Manifest[];
  readonly startMs: number;
  /** The flag that repeats the start, if the start is the next full hour: `--start 2026-01-01T00:00:00Z`. */
  readonly repeat?: string;
  readonly durationMs: number;
  readonly seed: number;
  /** The simulated release of Kubernetes. */
  readonly kubernetesVersion: KubernetesVersion;
  readonly scenario?: Scenario;
  /** Time zone of CronJobs without one, if it differs from the scenario's. */
  readonly localTimeZone?: string;
  /** Initial state of the cluster, for objects that were read from a live cluster. */
  readonly live?: LiveState;
  /** One line for each mistake in the input. The remaining objects can be simulated. */
  readonly problems: readonly string[];
  /** Mistakes in CronJobs and Jobs that cannot be read, and in objects that no run needs. */
  readonly mistakes: readonly InputProblem[];
  /** Number of files, kustomizations and standard inputs that were read. */
  readonly files: number;
  /** One line for each skipped or unusual part of the input. */
  readonly notes: readonly string[];
  /** How fields that the API server does not know are handled. */
  readonly validate: "strict" | "warn";
  /** Whether kinds that are not simulated are mistakes. */
  readonly strict: boolean;
  /**
   * Nodes of the cluster. Absent: those of the scenario, or the default nodes. `addedNodes` lists the nodes that exist
   * only for pods that fit on no other node.
   */
  readonly nodes?: readonly NodeShape[];
  readonly addedNodes: readonly AddedNode[];
  readonly workloads: WorkloadCounts;
}

/** Numbers of CronJobs, and of Jobs without a CronJob. */
export interface WorkloadCounts {
  readonly all: number;
  /** Those whose containers have no given duration. */
  readonly withoutDuration: number;
  /** Those whose containers have neither a given exit code nor a given share of failures. */
  readonly withoutOutcome: number;
}

export interface RunInputFlags extends FromClusterFlags, WorkloadFlags {
  readonly start?: string;
  readonly for?: string;
  readonly seed?: string;
  readonly scenario?: string;
  readonly validate?: string;
  readonly strict?: boolean;
  readonly controllerTimeZone?: string;
  readonly workloads?: string;
  /** Workload entries of a project file. */
  readonly workloadEntries?: readonly WorkloadEntry[];
  readonly kubernetes?: string;
  readonly kustomize?: string;
  readonly allowNetwork?: boolean;
}

const DEFAULT_FOR = "1d";
const DEFAULT_SEED = "1";

/**
 * Reads manifests and, if a flag names one, a scenario. Flags override the scenario's start, length and seed. Without a
 * start of a flag, a scenario or live objects, the window begins at the next full hour.
 *
 * @param clusterState - State of the cluster, when it has already been read.
 * @throws UserError for invalid flags and scenarios, and when nothing is left to simulate.
 */
export async function readRunInput(
  paths: readonly string[],
  flags: RunInputFlags,
  io: InputIo & Pick<HostProcess, "connect" | "stopped" | "now">,
  clusterState?: ClusterState,
): Promise<RunInput> {
  const startMs = flags.start === undefined ? undefined : parseStart(flags.start);
  const durationMs = flags.for === undefined ? undefined : parseDuration(flags.for, "--for");
  if (durationMs !== undefined) checkDuration(durationMs, "--for");
  const seed = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  if (paths.length === 0 && flags.scenario === undefined && !flags.fromCluster)
    throw new UserError(
      `name manifest files to simulate, a scenario or a cluster: kubewright run FILE…, kubewright run --scenario FILE, kubewright run --from-cluster; or write a ${PROJECT_FILE}`,
    );
  const validate = parseValidate(flags.validate ?? "strict");
  const strict = flags.strict ?? false;
  const localTimeZone = parseTimeZone(flags.controllerTimeZone);
  const chosen = flags.kubernetes === undefined ? undefined : parseKubernetesVersion(flags.kubernetes);
  const cluster = clusterState ?? (await fromCluster(flags, io, { readsVersion: chosen === undefined }));
  const { version: kubernetesVersion, note: versionNote } = chosen ??
    cluster?.kubernetes ?? { version: NEWEST_VERSION };
  const loaded = paths.length === 0 ? NO_MANIFESTS : await loadManifests(paths, io, renderOptions(flags));
  const { problems, mistakes, notes } = loaded;
  const read = [...(cluster?.manifests ?? []), ...loaded.manifests];
  const entries = [
    ...(flags.workloadEntries ?? []),
    ...(flags.workloads === undefined ? [] : await readWorkloadsFile(flags.workloads, io)),
    ...workloadEntries(flags, read),
  ];
  const manifests = withWorkloads(read, entries);
  if (cluster !== undefined && manifests.length === 0)
    throw new UserError("the cluster has no matching CronJobs or Jobs; choose others with -n, -A or -l");
  if (manifests.length === 0 && paths.length > 0) {
    const why =
      problems.length + mistakes.length > 0
        ? allProblems(loaded)
        : [`${paths.map((path) => (path === "-" ? "standard input" : path)).join(", ")}: no Kubernetes objects found`];
    throw new UserError([...notes, ...why].join("\n"));
  }
  const live = liveState(manifests);
  const common = {
    problems,
    mistakes,
    files: loaded.files,
    kubernetesVersion,
    notes: [...(versionNote === undefined ? [] : [versionNote]), ...notes, ...(live?.notes ?? [])],
    validate,
    strict,
    ...(live === undefined ? {} : { live }),
    ...(localTimeZone === undefined ? {} : { localTimeZone }),
  };
  // Rounded up to the next second, so that no object is from the future.
  const begin = startMs ?? cluster?.nowMs ?? (live === undefined ? undefined : Math.ceil(live.newestMs / 1000) * 1000);
  const defaultStartMs = nextFullHour(io.now());
  if (flags.scenario !== undefined) {
    const overrides = { startMs: begin, durationMs, seed, manifests };
    const scenario = await loadScenario(flags.scenario, io, { ...overrides, defaultStartMs });
    const { startMs: start, durationMs: length, manifests: all } = scenario;
    return {
      manifests: all,
      startMs: start,
      ...(scenario.hasDefaultStart ? { repeat: startFlag(start) } : {}),
      durationMs: length,
      seed: scenario.seed,
      scenario,
      ...common,
      ...nodesForPods(all, scenario.nodes),
      workloads: countWorkloads(all),
    };
  }
  return {
    manifests,
    startMs: begin ?? defaultStartMs,
    ...(begin === undefined ? { repeat: startFlag(defaultStartMs) } : {}),
    durationMs: durationMs ?? parseDuration(DEFAULT_FOR, "--for"),
    seed: seed ?? parseSeed(DEFAULT_SEED),
    ...common,
    ...nodesForPods(manifests, undefined),
    workloads: countWorkloads(manifests),
  };
}

/** Adds nodes for pods that fit on no default node, unless the nodes are given. */
function nodesForPods(
  manifests: readonly Manifest[],
  given: readonly NodeShape[] | undefined,
): Pick<RunInput, "nodes" | "addedNodes"> {
  const addedNodes = given === undefined ? nodesFor(podTemplates(manifests), defaultNodes) : [];
  return addedNodes.length === 0
    ? { addedNodes }
    : { addedNodes, nodes: [...defaultNodes, ...addedNodes.map(({ shape }) => shape)] };
}

function countWorkloads(manifests: readonly Manifest[]): RunInput["workloads"] {
  const all = manifests.filter(
    ({ object }) =>
      object.kind === "CronJob" || (object.kind === "Job" && !object.metadata.ownerReferences?.some(isCronJob)),
  );
  return {
    all: all.length,
    withoutDuration: all.filter(({ object }) => !hasDuration(object)).length,
    withoutOutcome: all.filter(({ object }) => !hasOutcome(object)).length,
  };
}

function isCronJob({ kind }: { readonly kind: string }): boolean {
  return kind === "CronJob";
}

/** @throws UserError for an unknown value of `--kustomize`. */
export function renderOptions({
  kustomize = "top",
  allowNetwork = false,
}: Pick<RunInputFlags, "kustomize" | "allowNetwork">): RenderOptions {
  if (kustomize !== "none" && kustomize !== "top" && kustomize !== "all")
    throw new UserError(`--kustomize: ${JSON.stringify(kustomize)} is neither none nor top nor all`);
  return { kustomize, allowNetwork };
}

const NO_MANIFESTS: LoadedManifests = { manifests: [], problems: [], mistakes: [], notes: [], files: 0 };

function parseTimeZone(name: string | undefined): string | undefined {
  if (name === undefined || isTimeZone(name)) return name;
  const meant = suggestTimeZone(name);
  throw new UserError(
    `--controller-time-zone: ${JSON.stringify(name)} is not a time zone${meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`}`,
  );
}

/** Also accepts the values of `kubectl`. */
function parseValidate(text: string): "strict" | "warn" {
  if (text === "strict" || text === "true") return "strict";
  if (text === "warn") return "warn";
  throw new UserError(`--validate: ${JSON.stringify(text)} is neither strict nor warn`);
}
