import { nodes } from "@kubewright/api";

import { node } from "../scenario/schema.js";
import { evict, runningPods } from "../user-actions/pods.js";
import { drawNode, forSeconds } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const nodeDrained = defineEvent({
  schema: {
    description:
      "A node is cordoned and its pods are evicted, as by kubectl drain; with `for`, it is uncordoned after.",
    ...node,
  },
  example: "node-1",
  lasts: "untilUndone",
  isUserAction: true,
  effects: ["losesPods"],
  action(name, run) {
    const cordon = (unschedulable: boolean): Promise<unknown> =>
      run.user
        .resource(nodes)
        .patch(name, { type: "merge", body: { spec: { unschedulable } } }, { fieldManager: "user" });
    return {
      message: `node ${name} is drained`,
      involved: { kind: "Node", namespace: "", name },
      async begin() {
        await cordon(true);
        for (const pod of runningPods(run)) if (pod.spec?.nodeName === name) await evict(pod, run);
      },
      end: () => cordon(false),
    };
  },
  generate: (draw, context) => [{ ...forSeconds(draw, 1, 90), nodeDrained: drawNode(draw, context) }],
});
