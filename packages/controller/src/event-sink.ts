import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

export type EventType = "Normal" | "Warning";

/** What only Events of events.k8s.io/v1 say. The `EventRecorder` of core/v1 ignores it, as upstream's does. */
export interface EventDetails {
  /** What was done, or failed, as one word in CamelCase of at most 128 characters. Default: the reason. */
  readonly action?: string | undefined;
  /** A second object that the event concerns, such as one that was created. Default: none. */
  readonly related?:
    { readonly object: DeepReadonly<KubernetesObject>; readonly definition: ResourceDefinition } | undefined;
}

/** Receives the events that a controller records for users. Never blocks and never throws. */
export interface EventSink {
  /**
   * @param object - The involved object.
   * @param definition - The object's type: cached objects have no apiVersion and kind.
   * @param reason - One word in CamelCase, for machines.
   * @param message - One sentence, for people.
   */
  event(
    object: DeepReadonly<KubernetesObject>,
    definition: ResourceDefinition,
    type: EventType,
    reason: string,
    message: string,
    details?: EventDetails,
  ): void;
}

/** Discards every event. */
export const discardEvents: EventSink = { event: () => undefined };
