import { durationText } from "../generate/duration-text.js";
import { node } from "../scenario/schema.js";
import { drawNode } from "./draws.js";
import { defineEvent } from "./event-definition.js";

export const nodeLost = defineEvent({
  schema: {
    description:
      "A node is cut off, and its containers run on. After 50 s it is NotReady; 300 s later its pods are deleted, and stay until the node is back or deleted.",
    ...node,
  },
  example: "node-1",
  lasts: "untilTheEnd",
  effects: ["losesPods"],
  action: (name, { cluster: { faults }, signal }) => ({
    message: `node ${name} is cut off`,
    involved: { kind: "Node", namespace: "", name },
    begin: () => faults.nodeLost(name),
    end: () => faults.nodeBack(name, signal),
  }),
  generate: (draw, context) => [
    { for: durationText(draw.fork("for").pick([20, 60, 120, 400]) * 1_000), nodeLost: drawNode(draw, context) },
  ],
});
