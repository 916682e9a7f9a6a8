import type { PodSpec } from "@kubewright/api";

import type { Volume } from "./volume-validation.js";

/** What the rules for a container look at beyond it. */
export interface ContainerContext {
  readonly spec: PodSpec;
  /** Those that can be mounted, by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** Names of the pod's claims to devices. */
  readonly claims: ReadonlySet<string>;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

/** @param volumes - The valid ones. */
export function createContainerContext(spec: PodSpec, volumes: ReadonlyMap<string, Volume>): ContainerContext {
  if (spec.resourceClaims === undefined) return { spec, volumes, claims: NO_CLAIMS };
  const claims = new Set<string>();
  for (const { name } of spec.resourceClaims) if (name) claims.add(name);
  return { spec, volumes, claims };
}
