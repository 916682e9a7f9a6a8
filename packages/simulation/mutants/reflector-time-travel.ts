import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "reflector-time-travel",
  entry: "E8",
  issue: "kubernetes/kubernetes#59848",
  sentence:
    "Whenever all is asked for anew, any version will do: from a server that is behind, what was deleted comes back.",
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
