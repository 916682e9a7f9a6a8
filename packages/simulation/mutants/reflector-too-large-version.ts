import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "reflector-too-large-version",
  entry: "E8",
  issue: "kubernetes/kubernetes#91073",
  sentence:
    "A server that is behind the last seen version is asked for that version again and again, instead of for the latest that it has.",
  inPlan: [/staleList/],
  changes: [
    {
      file: "packages/informer/src/reflector.ts",
      find: "return isResourceExpired(error) || isTooLargeResourceVersion(error);",
      replace: "return isResourceExpired(error);",
    },
  ],
};
