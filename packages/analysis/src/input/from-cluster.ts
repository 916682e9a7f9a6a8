import { realClock } from "@kubewright/clock";

import { InterruptedError } from "../errors/interrupted-error.js";
import type { HostProcess } from "../ports/host-process.js";
import { type SimulatedVersion, readServerVersion } from "./kubernetes-version.js";
import { UserError } from "../errors/user-error.js";
import { connectThrough } from "../ports/connection.js";
import type { Manifest } from "./manifest.js";
import { readCluster } from "./read-cluster.js";

export interface FromClusterFlags {
  readonly fromCluster?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
}

/** The objects and the time of a cluster. */
export interface ClusterState {
  readonly manifests: readonly Manifest[];
  readonly nowMs: number;
  /** The closest simulated release, if the version was requested. */
  readonly kubernetes?: SimulatedVersion;
}

export interface FromClusterOptions {
  /** Default `kubewright-run`. */
  readonly userAgent?: string;
  /** Whether to read the server's version. Default true. */
  readonly readsVersion?: boolean;
}

/**
 * Reads the state of a live cluster, only with GET and LIST requests.
 *
 * @throws UserError for conflicting flags and invalid kubeconfigs; ClusterError when the cluster refuses.
 */
export async function fromCluster(
  flags: FromClusterFlags,
  io: Pick<HostProcess, "connect" | "stopped">,
  { userAgent = "kubewright-run", readsVersion = true }: FromClusterOptions = {},
): Promise<ClusterState | undefined> {
  const { kubeconfig, context, namespace, allNamespaces, selector } = flags;
  if (!flags.fromCluster) {
    const given = Object.entries({
      "--kubeconfig": kubeconfig,
      "--context": context,
      "--namespace": namespace,
      "--all-namespaces": allNamespaces,
      "--selector": selector,
    }).find(([, value]) => value !== undefined);
    if (given !== undefined)
      throw new UserError(`${given[0]} says what to read --from-cluster; add that, or leave it out`);
    return undefined;
  }
  if (namespace !== undefined && allNamespaces)
    throw new UserError("--namespace names one namespace and --all-namespaces all of them: leave out one");
  const connection = await connectThrough(io, { kubeconfig, context, userAgent });
  try {
    const manifests = await readCluster(connection.client, {
      namespace: allNamespaces ? undefined : (namespace ?? connection.namespace),
      labelSelector: selector,
      signal: io.stopped,
    });
    const kubernetes = readsVersion ? await readServerVersion(connection.client, io.stopped) : undefined;
    return {
      manifests,
      nowMs: connection.serverTimeMs() ?? realClock.now(),
      ...(kubernetes === undefined ? {} : { kubernetes }),
    };
  } catch (error) {
    if (io.stopped.aborted) throw new InterruptedError("stopped before the cluster had answered");
    throw error;
  } finally {
    await connection.close();
  }
}
