import { type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";
import { type EventHandler, deletedObject } from "@kubewright/informer";

import type { DependencyGraph } from "./dependency-graph.js";

/**
 * Keeps a graph current with one resource's cache. The graph changes at once; upstream has a queue in between.
 *
 * @see kubernetes v1.36 pkg/controller/garbagecollector/graph_builder.go controllerFor
 */
export function graphHandler(graph: DependencyGraph, definition: ResourceDefinition): EventHandler<KubernetesObject> {
  const type = { apiVersion: apiVersionOf(definition), kind: definition.kind };
  return {
    onAdd: ({ metadata }) => graph.observe(type, metadata),
    onUpdate: ({ metadata: old }, { metadata }) => {
      if (old.uid === metadata.uid) return graph.observe(type, metadata, old);
      // The deletion in between was missed. Upstream keeps the old object in its graph for ever.
      graph.remove(type, old);
      graph.observe(type, metadata);
    },
    onDelete: (deleted) => {
      const object = deletedObject(deleted);
      if (object !== undefined) graph.remove(type, object.metadata);
    },
  };
}
