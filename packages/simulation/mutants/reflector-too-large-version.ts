import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "reflector-too-large-version",
  entry: "E8",
  issue: "kubernetes/kubernetes#91073",
  sentence:
    "A server that has not come as far as what was seen last is asked for that again and again, not for what it has.",
  inPlan: [/staleList/],
  changes: [
    {
      file: "packages/informer/src/reflector.ts",
      find: "return isResourceExpired(error) || isTooLargeResourceVersion(error);",
      replace: "return isResourceExpired(error);",
    },
  ],
};
