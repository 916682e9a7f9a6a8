import type { DeepReadonly, KubernetesObject, ResourceDefinition } from "@kubewright/api";

export type EventType = "Normal" | "Warning";

/** What a controller tells its users through. Never blocks, never throws. */
export interface EventSink {
  /**
   * @param object - What the event is about.
   * @param definition - The object's type: cached objects do not say it themselves.
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

/** Forgets every event. */
export const discardEvents: EventSink = { event: () => undefined };
