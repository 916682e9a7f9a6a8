import { labelSelectorMatcher } from "@kubewright/api";

import { defineEvent } from "../faults/event-definition.js";
import { count, fields, job, targetFields } from "../scenario/schema.js";
import { evict, runningPods } from "./pods.js";

const { kind: _kind, ...which } = targetFields;

export const podEvicted = defineEvent({
  schema: fields("Running pods are evicted through the API, the oldest first.", {
    ...which,
    job: { description: "Pods of this Job.", ...job },
    count: { description: "How many, the oldest first. Default: 1.", ...count },
  }),
  example: { job: "report", count: 2 },
  isUserAction: true,
  omittable: ["count"],
  check: ({ job: owner, name, labels }) =>
    owner !== undefined || name !== undefined || labels !== undefined
      ? []
      : [{ path: [], message: "which pods? Give job, name or labels" }],
  action({ namespace = "default", name, labels, job: owner, count: most = 1 }, run) {
    const matchLabels = { ...labels, ...(owner === undefined ? {} : { "batch.kubernetes.io/job-name": owner }) };
    const matches = labelSelectorMatcher({ matchLabels });
    const chosen = runningPods(run)
      .filter(({ metadata }) => metadata.namespace === namespace && (name === undefined || metadata.name === name))
      .filter(({ metadata }) => matches(metadata.labels))
      .slice(0, most);
    const names = chosen.map(({ metadata }) => metadata.name).join(", ");
    return {
      message: chosen.length === 0 ? "no pod runs that could be evicted" : `evicted: ${names}`,
      async begin() {
        for (const pod of chosen) await evict(pod, run);
      },
    };
  },
});
