export { TerminalError } from "@kubewright/controller";
export { narrowCache } from "./cache-narrowing.js";
export { setCondition } from "./conditions.js";
export { defineIndex } from "./index-definition.js";
export { indexedBy, ownersOf } from "./mapping.js";
export { Operator, createOperator } from "./operator.js";
export { ownerReference } from "./owner-reference.js";
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  where,
} from "./predicates.js";
export { runOperator } from "./process/run-operator.js";

export type { Cache, CacheListOptions } from "./cache.js";
export type { CacheNarrowing, NarrowedCache } from "./cache-narrowing.js";
export type { Condition, Conditioned, NewCondition } from "./conditions.js";
export type { ControllerBuilder, OwnsOptions } from "./controller-builder.js";
export type { DeclaredController } from "./controller-declaration.js";
export type { RateLimiterOptions, ControllerOptions } from "./controller-spec.js";
export type { EventSource, EventTarget, SourceScope } from "./event-source.js";
export type { IndexDefinition } from "./index-definition.js";
export type { MapFunction } from "./mapping.js";
export type { CreatedOrUpdated, ObjectName, OperatorClient } from "./operator-client.js";
export type { EventsApi } from "./event-recording.js";
export type { LeaderElectionOptions, OperatorOptions } from "./operator-options.js";
export { defineCustomResource } from "./custom-resource/custom-resource.js";
export { withJsonSchema } from "./custom-resource/custom-resource-schema.js";
export { defineVersion } from "./custom-resource/define-version.js";
export { definitionOf } from "./custom-resource/definition.js";
export { CustomResourceError } from "./custom-resource/schema-problem.js";
export type { CustomResource, CustomResourceOptions } from "./custom-resource/custom-resource.js";
export type { CustomResourceSchema } from "./custom-resource/custom-resource-schema.js";
export type {
  CustomResourceInput,
  CustomResourceObject,
  CustomResourceVersion,
  ObjectOf,
} from "./custom-resource/custom-resource-version.js";
export type { Converted, OtherVersion, VersionConversion } from "./custom-resource/define-version.js";
export type { CustomResourceConversion } from "./custom-resource/definition.js";
export type { CustomResourceNames, ResourceNames } from "./custom-resource/names.js";
export type { SchemaProblem } from "./custom-resource/schema-problem.js";
export type { StructuralSchema, ValidationRule } from "./custom-resource/structural-schema.js";
export type {
  CustomResourceColumns,
  PrinterColumn,
  ScaleSubresource,
  VersionOptions,
  VersionSubresources,
} from "./custom-resource/version-schema.js";
export type { ControllerDescription, OperatorDescription, UsedResource } from "./operator-description.js";
export type { OperatorEnvironment, RunnableOperator } from "./operator-run.js";
export type { OperatorTask, TaskScope } from "./operator-task.js";
export type { Predicate } from "./predicates.js";
export type {
  Finalizer,
  GoneHandler,
  GoneRequest,
  ObjectEvents,
  ReconcileRequest,
  Reconciler,
  RequestScope,
} from "./reconcile-request.js";
export type { SourceOptions } from "./source.js";
export type { Span, Tracer } from "./tracing.js";
export type { Applied, StatusPatch } from "./written-parts.js";
