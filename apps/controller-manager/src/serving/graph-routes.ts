import type { GraphDump, GraphDumpNode } from "@kubewright/garbage-collector";

import { textReply } from "./http-message.js";
import type { Route } from "./router.js";

const NAME = "garbage-collector-controller";

/** `/debug/controllers/garbage-collector-controller/graph`: the graph of owners and dependents, for Graphviz. */
export function graphRoutes(dump: (uids: readonly string[]) => GraphDump): readonly Route[] {
  const base = `/debug/controllers/${NAME}`;
  const nothing = () => textReply(404, "\n");
  return [
    { path: base, handle: nothing },
    { path: `${base}/`, prefix: true, handle: nothing },
    {
      path: `${base}/graph`,
      handle: ({ query }) =>
        textReply(200, graphText(dump(query.getAll("uid"))), { "content-type": "text/vnd.graphviz; charset=utf-8" }),
    },
  ];
}

/** @see kubernetes v1.36 pkg/controller/garbagecollector/dump.go */
export function graphText({ nodes, edges }: GraphDump): string {
  const lines = ["strict digraph full {", "  // Node definitions."];
  for (const node of nodes) {
    lines.push(`  ${quoted(node.uid)} [`);
    for (const [name, value] of Object.entries(attributesOf(node))) lines.push(`    ${name}=${quoted(value)}`);
    lines.push("  ];");
  }
  lines.push("", "  // Edge definitions.");
  for (const { dependent, owner } of edges) lines.push(`  ${quoted(dependent)} -> ${quoted(owner)};`);
  lines.push("}", "");
  return lines.join("\n");
}

function attributesOf(node: GraphDumpNode): Readonly<Record<string, string>> {
  const { uid, namespace, name, kind } = node;
  const [version = "", group = ""] = node.apiVersion.split("/").reverse();
  const conditions = (["beingDeleted", "deletingDependents", "virtual"] as const).filter((each) => node[each]);
  const label = [`uid=${uid}`, `namespace=${namespace}`, `${kind}.${version}.${group}/${name}`];
  if (conditions.length > 0) label.push(conditions.join(","));
  return { label: label.join("\n"), group, version, kind, namespace, name };
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
