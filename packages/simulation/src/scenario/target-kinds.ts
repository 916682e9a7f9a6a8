import { type ResourceDefinition, cronJobs, jobs, namespaces, nodes, pods } from "@kubewright/api";

import type { Target } from "./schema.js";

/** Resources of the kinds that user actions can target. */
export const DEFINITIONS: Readonly<Record<Target["kind"], ResourceDefinition>> = {
  CronJob: cronJobs,
  Job: jobs,
  Pod: pods,
  Node: nodes,
  Namespace: namespaces,
};
