import type { Mutant } from "./mutant.ts";

export const mutant: Mutant = {
  name: "job-uid-recreated",
  entry: "3.1",
  sentence:
    "Pods are adopted and released, and expired Jobs deleted, without a UID precondition: another object that has taken the name is hit.",
  inPlan: [/"apply":\{"apiVersion":"(batch\/)?v1","kind":"(CronJob|Job|Pod)"/],
  changes: [
    {
      file: "packages/ttl-after-finished/src/sync-job.ts",
      find: 'propagationPolicy: "Foreground", preconditions: { uid }, signal',
      replace: 'propagationPolicy: "Foreground", signal',
    },
    {
      file: "packages/controller/src/controller-ref-manager.ts",
      find: "const metadata = { ownerReferences: [reference], uid, ",
      replace: "const metadata = { ownerReferences: [reference], ",
    },
    {
      file: "packages/controller/src/controller-ref-manager.ts",
      find: `      uid,
      ownerReferences: [{ $patch`,
      replace: "      ownerReferences: [{ $patch",
    },
  ],
};
