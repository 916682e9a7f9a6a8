import { type ResourceDefinition, cronJobs, jobs, namespaces, nodes, pods } from "@kubewright/api";

import type { Target } from "./scenario-file.js";

/** The kinds of objects that users act upon. */
export const DEFINITIONS: Readonly<Record<Target["kind"], ResourceDefinition>> = {
  CronJob: cronJobs,
  Job: jobs,
  Pod: pods,
  Node: nodes,
  Namespace: namespaces,
};
