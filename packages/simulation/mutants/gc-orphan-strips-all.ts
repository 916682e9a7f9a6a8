import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "gc-orphan-strips-all",
  entry: "own",
  sentence: "Orphaning the dependents of one owner removes the references to all of their owners.",
  inPlan: [/Orphan/],
  changes: [
    {
      file: "packages/garbage-collector/src/attempt-to-orphan.ts",
      find: "const removeReference = async ({ identity: dependent }: GraphNode): Promise<void> => {\n    const strategic = deleteReferencesStrategicPatch(dependent.uid, [identity.uid]);",
      replace:
        "const removeReference = async ({ identity: dependent, owners }: GraphNode): Promise<void> => {\n    const strategic = deleteReferencesStrategicPatch(dependent.uid, owners.map(({ uid }) => uid));",
    },
  ],
};
