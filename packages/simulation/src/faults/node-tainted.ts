import { type DeepReadonly, type Node, nodes } from "@kubewright/api";

import { fields, node, taintFields } from "../scenario/schema.js";
import { drawNode, forSeconds } from "./draws.js";
import { defineEvent } from "./event-definition.js";

/** Taint with which an administrator confirms that the machine is shut down. */
export const OUT_OF_SERVICE = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
} as const;

export const nodeTainted = defineEvent({
  schema: fields(
    "A node gets a taint; with `NoExecute`, pods that do not tolerate it are deleted.",
    { node, ...taintFields },
    ["node", "key", "effect"],
  ),
  example: { node: "node-1", key: "maintenance", effect: "NoExecute" },
  lasts: "untilUndone",
  isUserAction: true,
  effects: ["losesPods"],
  action({ node: name, key, value, effect }, { user }) {
    const client = user.resource(nodes);
    const change = async (add: boolean): Promise<void> => {
      const { spec }: DeepReadonly<Node> = await client.get(name);
      const others = (spec?.taints ?? []).filter((taint) => taint.key !== key || taint.effect !== effect);
      const taints = add ? [...others, { key, effect, ...(value === undefined ? {} : { value }) }] : others;
      await client.patch(name, { type: "merge", body: { spec: { taints } } }, { fieldManager: "user" });
    };
    return {
      message: `node ${name} is tainted ${key}${value === undefined ? "" : `=${value}`}:${effect}`,
      involved: { kind: "Node", namespace: "", name },
      begin: () => change(true),
      end: () => change(false),
    };
  },
  generate(draw, context) {
    const taint = draw.fork("taint").pick([OUT_OF_SERVICE, { key: "example.com/maintenance", effect: "NoExecute" }]);
    return [{ ...forSeconds(draw, 1, 120), nodeTainted: { node: drawNode(draw, context), ...taint } }];
  },
});
