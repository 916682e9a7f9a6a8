import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ReflectorTarget } from "./reflector.js";

/** What fills the cache of an informer: by default a reflector, which asks the API server for nobody else. */
export interface InformerSource {
  /** Monotonic milliseconds when the server last answered or sent something; `undefined` before it did. */
  readonly lastContactMs: number | undefined;
  /**
   * Tells the target what there is, first by `replace`, until the signal aborts; nothing after it. Rejects never.
   *
   * @param resyncMs - How often the target is told to resync; 0: never.
   */
  run(signal: AbortSignal, resyncMs: number): Promise<void>;
}

/** Makes the sources of a factory's informers; `undefined`: a reflector, as by default. */
export type InformerSourceFactory = <T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  target: ReflectorTarget<T>,
) => InformerSource | undefined;
