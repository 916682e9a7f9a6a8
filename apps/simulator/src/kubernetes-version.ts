import {
  KUBERNETES_VERSIONS,
  type KubernetesVersion,
  NEWEST_VERSION,
  closestVersion,
  parseServerVersion,
} from "@kubewright/api";
import { type Client, errorMessage } from "@kubewright/client";

import { UserError } from "./user-error.js";

/** The release of Kubernetes that is played. */
export interface SimulatedVersion {
  readonly version: KubernetesVersion;
  /** One line, where it is not quite what was asked for. */
  readonly note?: string;
}

/** As users write it, and {@link parseKubernetesVersion} takes it: the newest patch release is the minor version's own. */
export function versionName(version: KubernetesVersion): string {
  return version === NEWEST_VERSION ? NEWEST_NAME : version;
}

/** What a title says of the release: nothing of the newest, which is what is played when nobody chooses. */
export function versionRemark(version: KubernetesVersion): string {
  return version === NEWEST_VERSION ? "" : `, Kubernetes ${versionName(version)}`;
}

const NEWEST_NAME = "1.36";
/** Played as their closest neighbour. */
const ALIASES: ReadonlyMap<string, KubernetesVersion> = new Map([
  ["1.32", "1.33"],
  [NEWEST_NAME, NEWEST_VERSION],
]);

/**
 * Reads a release as `--kubernetes` takes it, with a leading `v` or without.
 *
 * @throws UserError naming those there are.
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

/** Asks a server what it is. One that does not say, or not in words that are known, is taken for the newest. */
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
