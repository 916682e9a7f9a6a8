import {
  type DeepReadonly,
  type KubernetesObject,
  type LabelMatcher,
  type ResourceDefinition,
  apiVersionOf,
  getControllerOf,
  keyOf,
  newControllerRef,
} from "@kubewright/api";
import { errorMessage, isInvalid, isNotFound } from "@kubewright/client";

import { aggregateErrors } from "./aggregate-errors.js";

export interface ControllerRefManagerOptions<T extends KubernetesObject> {
  /** The object that claims other objects. */
  readonly controller: DeepReadonly<KubernetesObject>;
  readonly controllerDefinition: ResourceDefinition;
  /** Kind of the claimed objects, for error messages, for example `Pod`. */
  readonly kind: string;
  readonly selector: LabelMatcher;
  /** A further condition that an object must meet to be adopted or kept. Default: none. */
  readonly filter?: (object: DeepReadonly<T>) => boolean;
  /**
   * Throws when the controller may not adopt at the moment; see {@link recheckDeletionTimestamp}. Called at most once
   * per manager, before the first adoption. The manager reuses the result, also an error.
   */
  readonly canAdopt: (signal: AbortSignal) => Promise<void>;
  /** Finalizers that adoption adds and release removes. */
  readonly finalizers?: readonly string[];
  /** Sends a strategic merge patch and returns the stored object, for example {@link PodControl.patchPod}. */
  readonly patch: (namespace: string, name: string, body: object, signal: AbortSignal) => Promise<DeepReadonly<T>>;
}

export interface ClaimResult<T> {
  /**
   * Objects that the controller owns now, in the order of the input. Adopted objects are as the API server stored them.
   */
  readonly claimed: readonly DeepReadonly<T>[];
  /** All errors in one. The other objects were claimed nevertheless; the caller should retry. */
  readonly error?: Error;
}

/** What the manager does with one object. */
export type ClaimAction = "keep" | "ignore" | "adopt" | "release";

/**
 * Adopts matching orphans and releases objects that no longer match, for one sync of one controller object. Create a
 * new manager for every sync.
 *
 * Upstream: kubernetes/pkg/controller/controller_ref_manager.go.
 */
export class ControllerRefManager<T extends KubernetesObject> {
  readonly #options: ControllerRefManagerOptions<T>;
  #adoptionCheck: Promise<void> | undefined;

  constructor(options: ControllerRefManagerOptions<T>) {
    this.#options = options;
  }

  /** Returns what {@link claim} would do with the object, without sending a request. */
  decide(object: DeepReadonly<T>): ClaimAction {
    const { controller, selector, filter } = this.#options;
    const matches = (): boolean => selector(object.metadata.labels) && (filter === undefined || filter(object));
    const isDeleting = Boolean(controller.metadata.deletionTimestamp);
    const reference = getControllerOf(object);
    if (reference !== undefined) {
      if (reference.uid !== controller.metadata.uid) return "ignore";
      if (matches()) return "keep";
      return isDeleting ? "ignore" : "release";
    }
    if (isDeleting || object.metadata.deletionTimestamp) return "ignore";
    if (controller.metadata.namespace && object.metadata.namespace !== controller.metadata.namespace) return "ignore";
    return matches() ? "adopt" : "ignore";
  }

  /** Claims the objects one after the other. Throws only the signal's reason. */
  async claim(objects: Iterable<DeepReadonly<T>>, signal: AbortSignal): Promise<ClaimResult<T>> {
    const claimed: DeepReadonly<T>[] = [];
    const errors: unknown[] = [];
    for (const object of objects) {
      const action = this.decide(object);
      if (action === "keep") claimed.push(object);
      if (action === "keep" || action === "ignore") continue;
      try {
        if (action === "release") await this.#release(object, signal);
        else claimed.push(await this.#adopt(object, signal));
      } catch (error) {
        signal.throwIfAborted();
        // The object was deleted in the meantime: it is not claimed, and that is no error.
        if (!isNotFound(error)) errors.push(error);
      }
    }
    const error = aggregateErrors(errors);
    return error === undefined ? { claimed } : { claimed, error };
  }

  async #adopt(object: DeepReadonly<T>, signal: AbortSignal): Promise<DeepReadonly<T>> {
    const { controller, controllerDefinition, canAdopt, finalizers = [], kind, patch } = this.#options;
    const { namespace = "", name = "", uid } = object.metadata;
    this.#adoptionCheck ??= canAdopt(signal);
    try {
      await this.#adoptionCheck;
    } catch (error) {
      throw new Error(`can't adopt ${kind} ${keyOf(object)} (${uid}): ${errorMessage(error)}`, { cause: error });
    }
    const reference = newControllerRef(controller, {
      apiVersion: apiVersionOf(controllerDefinition),
      kind: controllerDefinition.kind,
    });
    // The uid makes the patch fail when another object has this name now.
    const metadata = { ownerReferences: [reference], uid, ...(finalizers.length === 0 ? {} : { finalizers }) };
    return patch(namespace, name, { metadata }, signal);
  }

  async #release(object: DeepReadonly<T>, signal: AbortSignal): Promise<void> {
    const { controller, finalizers = [], patch } = this.#options;
    const { namespace = "", name = "", uid } = object.metadata;
    const metadata = {
      uid,
      ownerReferences: [{ $patch: "delete", uid: controller.metadata.uid }],
      ...(finalizers.length === 0 ? {} : { "$deleteFromPrimitiveList/finalizers": finalizers }),
    };
    try {
      await patch(namespace, name, { metadata }, signal);
    } catch (error) {
      // `Invalid` means that another object has the name, or that the reference is already removed.
      if (!isInvalid(error)) throw error;
    }
  }
}
