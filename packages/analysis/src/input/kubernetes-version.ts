import {
  KUBERNETES_VERSIONS,
  type KubernetesVersion,
  NEWEST_VERSION,
  closestVersion,
  parseServerVersion,
} from "@kubewright/api";
import { type Client, errorMessage } from "@kubewright/client";

import { UserError } from "../errors/user-error.js";

/** The simulated release of Kubernetes. */
export interface SimulatedVersion {
  readonly version: KubernetesVersion;
  /** A one-line note when the release differs from the requested one. */
  readonly note?: string;
}

/**
 * Returns the name that {@link parseKubernetesVersion} accepts. The newest patch release has the name of its minor
 * version.
 */
export function versionName(version: KubernetesVersion): string {
  return version === NEWEST_VERSION ? NEWEST_NAME : version;
}

/** Returns the release for a title; empty for the newest, which is the default. */
export function versionRemark(version: KubernetesVersion): string {
  return version === NEWEST_VERSION ? "" : `, Kubernetes ${versionName(version)}`;
}

const NEWEST_NAME = "1.36";
/** Names that stand for another version, such as the closest simulated neighbour. */
const ALIASES: ReadonlyMap<string, KubernetesVersion> = new Map([
  ["1.32", "1.33"],
  [NEWEST_NAME, NEWEST_VERSION],
]);

/**
 * Reads a release in the format of `--kubernetes`, with or without a leading `v`.
 *
 * @throws UserError that lists the known releases.
 */
export function parseKubernetesVersion(text: string, option = "--kubernetes"): SimulatedVersion {
  const name = text.replace(/^v/, "");
  const version = ALIASES.get(name) ?? KUBERNETES_VERSIONS.find((known) => known === name);
  if (version === undefined) {
    const names = [...new Set([...KUBERNETES_VERSIONS, ...ALIASES.keys()])].sort();
    throw new UserError(`${option}: ${JSON.stringify(text)} cannot be simulated; choose one of ${names.join(", ")}`);
  }
  return name === "1.32" ? { version, note: simulatedAs("Kubernetes 1.32 is", version, BETWEEN) } : { version };
}

/** Reads a server's version. A server without a known version counts as the newest. */
export async function readServerVersion(client: Client, signal: AbortSignal): Promise<SimulatedVersion> {
  let answer: unknown;
  try {
    answer = await client.getRaw("/version", signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const why = errorMessage(error).split("\n", 1)[0]!;
    return {
      version: NEWEST_VERSION,
      note: simulatedAs("the cluster is", NEWEST_VERSION, `its version is unknown: ${why}`),
    };
  }
  const { gitVersion } = (answer ?? {}) as { readonly gitVersion?: unknown };
  const parsed = typeof gitVersion === "string" ? parseServerVersion(gitVersion) : undefined;
  if (parsed === undefined) {
    const said = `it calls its version ${JSON.stringify(gitVersion) ?? "nothing"}`;
    return { version: NEWEST_VERSION, note: simulatedAs("the cluster is", NEWEST_VERSION, said) };
  }
  const { version, fit } = closestVersion(parsed);
  if (fit === "measured") return { version };
  const because = { between: BETWEEN, older: "nothing older is known here", newer: "nothing newer is known here" }[fit];
  return { version, note: simulatedAs(`the cluster's ${String(gitVersion)} is`, version, because) };
}

const BETWEEN = "what differs between releases was not measured in this one";

function simulatedAs(what: string, version: KubernetesVersion, because: string): string {
  return `${what} simulated as Kubernetes ${versionName(version)}: ${because}`;
}
