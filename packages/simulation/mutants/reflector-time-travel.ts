import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "reflector-time-travel",
  entry: "E8",
  issue: "kubernetes/kubernetes#59848",
  sentence: "Every new list accepts any version: from a server that is behind, deleted objects come back.",
  inPlan: [/staleList/],
  changes: [
    {
      file: "packages/informer/src/reflector.ts",
      find: 'const requestedVersion = this.#lastSyncUnavailable ? "" : this.#lastSyncResourceVersion || initialVersion;',
      replace: 'const requestedVersion: string = "0";',
    },
    {
      file: "packages/informer/src/reflector.ts",
      find: '      this.#lastSyncUnavailable || this.#lastSyncResourceVersion === "" ? undefined : this.#lastSyncResourceVersion;',
      replace: '      "0";',
    },
  ],
};
