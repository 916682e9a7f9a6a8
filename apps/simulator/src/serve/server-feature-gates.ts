import { type KubernetesVersion, KUBERNETES_VERSIONS } from "@kubewright/api";
import { type ServerFeatureGates, defaultFeatureGates } from "@kubewright/apiserver";
import { type FeatureGate, FeatureGateError, resolveFeatureGates } from "@kubewright/controller";

import { UserError } from "@kubewright/analysis/errors";

type GateName = keyof ServerFeatureGates;

const stages: Readonly<Record<GateName, { readonly stage: FeatureGate["stage"]; readonly since: KubernetesVersion }>> =
  {
    ShardedListAndWatch: { stage: "ALPHA", since: "1.36.2" },
  };

/** A feature of the API server, and whether it is enabled. */
export interface ServerFeature {
  readonly name: GateName;
  readonly stage: FeatureGate["stage"];
  readonly enabled: boolean;
}

/**
 * Parses `--feature-gates` of `serve`.
 *
 * @param text - `Name=bool` pairs, separated by commas.
 * @param version - Release that determines the known gates.
 * @throws UserError with kube-apiserver's message.
 */
export function parseFeatureGates(text: string, version: KubernetesVersion): readonly ServerFeature[] {
  const names = (Object.keys(stages) as GateName[]).filter((name) => isSince(version, stages[name].since));
  const gates = names.map((name) => ({
    name,
    stage: stages[name].stage,
    default: defaultFeatureGates[name],
    hasEffect: true,
  }));
  try {
    const { enabled } = resolveFeatureGates(text.split(","), gates);
    return gates.map(({ name, stage }) => ({ name, stage, enabled: enabled.get(name)! }));
  } catch (error) {
    if (error instanceof FeatureGateError) throw new UserError(`--feature-gates: ${error.message}`, { cause: error });
    throw error;
  }
}

function isSince(version: KubernetesVersion, since: KubernetesVersion): boolean {
  return KUBERNETES_VERSIONS.indexOf(version) >= KUBERNETES_VERSIONS.indexOf(since);
}
