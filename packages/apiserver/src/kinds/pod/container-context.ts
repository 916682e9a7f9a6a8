import type { PodSpec } from "@kubewright/api";

import type { Volume } from "./volume-validation.js";

/** The parts of the pod that container validation reads. */
export interface ContainerContext {
  readonly spec: PodSpec;
  /** The volumes that can be mounted, by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** The names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

/** @param volumes - The valid volumes. */
export function createContainerContext(spec: PodSpec, volumes: ReadonlyMap<string, Volume>): ContainerContext {
  if (spec.resourceClaims === undefined) return { spec, volumes, claims: NO_CLAIMS };
  const claims = new Set<string>();
  for (const { name } of spec.resourceClaims) if (name) claims.add(name);
  return { spec, volumes, claims };
}
