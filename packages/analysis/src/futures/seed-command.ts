import { shellWord } from "../input/paths.js";
import type { RunInputFlags } from "../input/run-input.js";

/** Flags that select the input, by their names in `RunInputFlags`; without the seed. */
const FLAGS = {
  scenario: "--scenario",
  start: "--start",
  for: "--for",
  fromCluster: "--from-cluster",
  kubeconfig: "--kubeconfig",
  context: "--context",
  namespace: "-n",
  allNamespaces: "-A",
  selector: "-l",
  controllerTimeZone: "--controller-time-zone",
  kubernetes: "--kubernetes",
  workloads: "--workloads",
  duration: "--duration",
  fail: "--fail",
  strict: "--strict",
  allowNetwork: "--allow-network",
} as const satisfies Partial<Record<keyof RunInputFlags, string>>;

/** Returns the arguments that select the input, without the seed. */
export function inputArgs(paths: readonly string[], flags: RunInputFlags): string[] {
  const args = Object.entries(FLAGS).flatMap(([name, flag]) => {
    const value = flags[name as keyof typeof FLAGS];
    if (value === undefined || value === false) return [];
    return value === true ? [flag] : [value].flat().flatMap((each) => [flag, each]);
  });
  const validate = flags.validate === undefined || flags.validate === "strict" ? [] : ["--validate", flags.validate];
  const kustomize = flags.kustomize === undefined || flags.kustomize === "top" ? [] : ["--kustomize", flags.kustomize];
  return [...paths, ...args, ...validate, ...kustomize];
}

/** Returns the command line that simulates one seed, without the seed: `kubewright run backup.yaml --for 7d`. */
export function seedCommand(paths: readonly string[], flags: RunInputFlags): string {
  return ["kubewright", "run", ...inputArgs(paths, flags).map(shellWord)].join(" ");
}
