export { DependencyGraph } from "./dependency-graph.js";
export { GarbageCollector } from "./garbage-collector.js";
export { classifyOwner, planItem } from "./item-plan.js";

export type { GarbageDecision } from "./decision.js";
export type { GarbageCollectorMetrics, GarbageCollectorOptions } from "./garbage-collector.js";
export type { GraphListener } from "./dependency-graph.js";
export type { GraphDump, GraphDumpEdge, GraphDumpNode } from "./graph-dump.js";
export type { GraphNode } from "./graph-node.js";
export type { ClassifiedReferences, ItemPlan } from "./item-plan.js";
export type { Metadata, ObjectIdentity, ObjectType, Reference } from "./object-identity.js";
