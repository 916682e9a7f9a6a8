import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import type { ReflectorTarget } from "./reflector.js";

/** Fills the cache of an informer. The default is a reflector, which lists and watches for this informer only. */
export interface InformerSource {
  /** Monotonic time in milliseconds when the server last sent something; `undefined` if it has sent nothing. */
  readonly lastContactMs: number | undefined;
  /**
   * Sends the objects to the target until the signal aborts, beginning with `replace`. Sends nothing after the abort.
   * Never rejects.
   *
   * @param resyncMs - Period of the target's resyncs; 0: never.
   */
  run(signal: AbortSignal, resyncMs: number): Promise<void>;
}

/** Creates the source of an informer. Returns `undefined` for the default, a reflector. */
export type InformerSourceFactory = <T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  target: ReflectorTarget<T>,
) => InformerSource | undefined;
