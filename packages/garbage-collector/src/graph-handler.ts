import { type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";
import { type EventHandler, deletedObject } from "@kubewright/informer";

import type { DependencyGraph } from "./dependency-graph.js";

/**
 * Updates a graph from the cache of one resource. The graph changes synchronously; upstream uses a queue in between.
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
