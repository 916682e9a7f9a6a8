import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

export type EventType = "Normal" | "Warning";

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
  ): void;
}

/** Discards every event. */
export const discardEvents: EventSink = { event: () => undefined };
