export { filteringHandler } from "./filtering-handler.js";
export { namespaceIndex } from "./indexers.js";
export { InformerError } from "./informer-error.js";
export { InformerFactory } from "./informer-factory.js";
export { foreignObjectsDefinition, informerMetricDefinitions } from "./informer-metrics.js";
export { isRecreated } from "./recreation.js";
export { NamespaceFeed } from "./namespace-feed.js";
export { SharedInformer } from "./shared-informer.js";
export { Store } from "./store.js";
export { deletedObject, isDeletedFinalStateUnknown } from "./tombstone.js";
export { withoutManagedFields } from "./transform.js";

export type { ChangeListener, ChangeType } from "./change-feed.js";
export type { EventHandler } from "./event-handler.js";
export type { IndexFunction, Indexers, NamespaceIndex } from "./indexers.js";
export type { InformerStep } from "./informer-error.js";
export type { InformerFactoryOptions } from "./informer-factory.js";
export type {
  InformerLabels,
  InformerMetricDefinition,
  InformerMetrics,
  InformerMetricsProvider,
} from "./informer-metrics.js";
export type { InformerSource, InformerSourceFactory } from "./informer-source.js";
export type { Lister } from "./lister.js";
export type { NamespaceFeedOptions } from "./namespace-feed.js";
export type { ReflectorTarget } from "./reflector.js";
export type { HandlerRegistration, InformerStore, SharedInformerOptions } from "./shared-informer.js";
export type { Replacement } from "./store.js";
export type { DeletedFinalStateUnknown } from "./tombstone.js";
export type { AnyTransform, Transform } from "./transform.js";
