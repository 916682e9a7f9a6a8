import {
  type DeepReadonly,
  type KubernetesObject,
  type OwnerReference,
  type Pod,
  type PodTemplateSpec,
  type ResourceDefinition,
  pods,
} from "@kubewright/api";
import {
  type Client,
  type StrategicMergePatch,
  type Writer,
  errorMessage,
  hasStatusCause,
  isNotFound,
} from "@kubewright/client";

import type { EventSink } from "./event-sink.js";
import { podFromTemplate } from "./pod-template.js";

export interface PodControlOptions {
  readonly client: Pick<Client, "resource">;
  readonly events: EventSink;
  /**
   * Called with the stored pod after every successful create and patch, for example to record the write in a
   * consistency store.
   */
  readonly onWrite?: (pod: DeepReadonly<Pod>) => void;
}

export interface CreatePodOptions {
  readonly namespace: string;
  readonly template: DeepReadonly<PodTemplateSpec>;
  readonly owner: DeepReadonly<KubernetesObject>;
  readonly ownerDefinition: ResourceDefinition;
  readonly controllerRef: DeepReadonly<OwnerReference>;
  /** Default: the owner's name and a dash. */
  readonly generateName?: string | undefined;
}

/**
 * Writes pods on behalf of an owner, and records events on that owner.
 *
 * Upstream: kubernetes/pkg/controller RealPodControl. When the signal aborts a request, no failure event is recorded,
 * because a stop is not a failure.
 */
export class PodControl {
  readonly #pods: Writer<Pod>;
  readonly #events: EventSink;
  readonly #onWrite: ((pod: DeepReadonly<Pod>) => void) | undefined;

  constructor({ client, events, onWrite }: PodControlOptions) {
    this.#pods = client.resource(pods);
    this.#events = events;
    this.#onWrite = onWrite;
  }

  /**
   * Creates a pod from a template.
   *
   * @throws Error without a request when the controllerRef is incomplete or the template has no labels; otherwise the
   * error of the API server or the transport, after event `FailedCreate`. There is no event if the namespace is being
   * deleted.
   */
  async createPod(options: CreatePodOptions, signal?: AbortSignal): Promise<DeepReadonly<Pod>> {
    const { namespace, template, owner, ownerDefinition, controllerRef, generateName } = options;
    validateControllerRef(controllerRef);
    const { metadata, spec } = template;
    const podWithoutSpec = podFromTemplate(
      metadata === undefined ? {} : { metadata },
      owner,
      controllerRef,
      generateName,
    );
    // Reuses the template's spec object instead of a copy, so that a server in the same process recognises it.
    const pod: DeepReadonly<Pod> = spec === undefined ? podWithoutSpec : { ...podWithoutSpec, spec };
    if (Object.keys(pod.metadata.labels ?? {}).length === 0) throw new Error("unable to create pods, no labels");
    let created: DeepReadonly<Pod>;
    try {
      created = await this.#pods.create(pod, { namespace, ...abortable(signal) });
    } catch (error) {
      if (!hasStatusCause(error, "NamespaceTerminating") && !isAbort(error, signal)) {
        this.#events.event(owner, ownerDefinition, "Warning", "FailedCreate", `Error creating: ${errorMessage(error)}`);
      }
      throw error;
    }
    this.#onWrite?.(created);
    this.#events.event(owner, ownerDefinition, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name}`);
    return created;
  }

  /**
   * Deletes a pod with its own grace period.
   *
   * @throws StatusError `NotFound` unchanged and without an event; any other error as the cause of `unable to delete
   * pods: …`, after event `FailedDelete`.
   */
  async deletePod(
    namespace: string,
    name: string,
    owner: DeepReadonly<KubernetesObject>,
    ownerDefinition: ResourceDefinition,
    signal?: AbortSignal,
  ): Promise<void> {
    try {
      await this.#pods.delete(name, { namespace, ...abortable(signal) });
    } catch (error) {
      if (isNotFound(error) || isAbort(error, signal)) throw error;
      const message = errorMessage(error);
      this.#events.event(owner, ownerDefinition, "Warning", "FailedDelete", `Error deleting: ${message}`);
      throw new Error(`unable to delete pods: ${message}`, { cause: error });
    }
    this.#events.event(owner, ownerDefinition, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
  }

  /** Sends a strategic merge patch without an event. Returns the stored pod. */
  async patchPod(
    namespace: string,
    name: string,
    body: StrategicMergePatch<Pod>,
    signal?: AbortSignal,
  ): Promise<DeepReadonly<Pod>> {
    const patched = await this.#pods.patch(name, { type: "strategic", body }, { namespace, ...abortable(signal) });
    this.#onWrite?.(patched);
    return patched;
  }
}

/** Upstream: kubernetes/pkg/controller validateControllerRef. */
function validateControllerRef(reference: DeepReadonly<OwnerReference> | undefined): void {
  if (reference === undefined) throw new Error("controllerRef is nil");
  if (!reference.apiVersion) throw new Error("controllerRef has empty APIVersion");
  if (!reference.kind) throw new Error("controllerRef has empty Kind");
  if (reference.controller !== true) throw new Error("controllerRef.Controller is not set to true");
  if (reference.blockOwnerDeletion === undefined) throw new Error("controllerRef.BlockOwnerDeletion is not set");
}

function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && error === signal.reason;
}

function abortable(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
