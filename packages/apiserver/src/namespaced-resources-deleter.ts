import { type KubernetesObject, formatTime, mutableCopy } from "@kubewright/api";
import type { Clock, Timer } from "@kubewright/clock";

import { pendingNames } from "./pending-names.js";
import type { ResourceRegistry } from "./resource-registry.js";
import { type ServedResource, isStoredAs } from "./served-resource.js";
import type { Change } from "./storage/change.js";
import type { ChangeListener, ResourceStorage } from "./storage/resource-storage.js";
import type { StoredObject } from "./storage/stored-object.js";
import { UNCONDITIONAL_DELETE, markOrRemove } from "./registry/deletion.js";

interface NamespaceObject extends KubernetesObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string; conditions?: object[] };
}

const KUBERNETES_FINALIZER = "kubernetes";
/**
 * Time between the deletion of a namespace and the deletion of its content. Upstream: `namespaceDeletionGracePeriod`.
 */
const GRACE_MS = 5000;

/**
 * Deletes the content of deleted namespaces, pods first, and then removes the finalizer `kubernetes`, which removes the
 * namespace. Upstream: `pkg/controller/namespace` and its `deletion`.
 *
 * Starts 5 s after the deletion of a namespace: a client that also deletes the content, such as `kubectl delete -f`,
 * still finds it. Continues whenever an object of the namespace is removed, not after a delay as upstream.
 */
export class NamespacedResourcesDeleter implements ChangeListener {
  readonly #clock: Clock;
  readonly #registry: ResourceRegistry;
  readonly #namespaces: ResourceStorage;
  readonly #schedule: (namespace: string) => void;
  /** Namespaces whose content is being deleted. */
  readonly #terminating = new Set<string>();
  /** Deleted namespaces in their grace period. */
  readonly #inGracePeriod = new Map<string, Timer>();

  constructor(options: { clock: Clock; registry: ResourceRegistry; namespaces: ResourceStorage }) {
    this.#clock = options.clock;
    this.#registry = options.registry;
    this.#namespaces = options.namespaces;
    this.#schedule = pendingNames(options.clock, (name) => this.#deleteContent(name));
    for (const stored of options.namespaces.list()) this.#startGracePeriod(stored);
    options.namespaces.follow(this);
  }

  /** Registers a storage. Call it for every namespaced resource. */
  watch(storage: ResourceStorage): void {
    storage.follow({
      onChange: ({ current, previous }) => {
        if (current !== undefined || previous === undefined || this.#terminating.size === 0) return;
        if (this.#terminating.has(previous.namespace)) this.#schedule(previous.namespace);
      },
    });
  }

  onChange({ current, subject: { name } }: Change): void {
    if (current !== undefined) {
      this.#startGracePeriod(current);
      return;
    }
    this.#terminating.delete(name);
    this.#inGracePeriod.get(name)?.cancel();
    this.#inGracePeriod.delete(name);
  }

  #startGracePeriod({ name, object }: StoredObject): void {
    if (!object.metadata.deletionTimestamp || this.#inGracePeriod.has(name) || this.#terminating.has(name)) return;
    const timer = this.#clock.setTimer(GRACE_MS, () => {
      this.#inGracePeriod.delete(name);
      this.#terminating.add(name);
      this.#deleteContent(name);
    });
    this.#inGracePeriod.set(name, timer);
  }

  #deleteContent(name: string): void {
    const stored = this.#namespaces.get("", name);
    if (stored === undefined || !stored.object.metadata.deletionTimestamp) return;
    if (!((stored.object as NamespaceObject).spec?.finalizers ?? []).includes(KUBERNETES_FINALIZER)) return;
    const resources = uniqueByStorage(
      [...this.#registry.all()].filter((resource) => resource.namespaced && resource.verbs.has("deletecollection")),
    );
    const [pods, others] = [resources.filter(isPods), resources.filter((resource) => !isPods(resource))];
    for (const group of [pods, others]) {
      let remaining = 0;
      for (const resource of group) {
        for (const object of resource.storage.list(name))
          markOrRemove(resource, object, UNCONDITIONAL_DELETE, this.#clock.now());
        remaining += resource.storage.list(name).length;
      }
      // Finalizers or a grace period keep the remaining objects; their removal calls this method again.
      if (remaining > 0) {
        this.#writeConditions(name, group);
        return;
      }
    }
    this.#removeFinalizer(this.#namespaces.get("", name)!);
  }

  #removeFinalizer(stored: StoredObject): void {
    const next = mutableCopy(stored.object) as NamespaceObject;
    const finalizers = (next.spec?.finalizers ?? []).filter((finalizer) => finalizer !== KUBERNETES_FINALIZER);
    next.spec = finalizers.length === 0 ? {} : { finalizers };
    if (finalizers.length === 0 && (next.metadata.finalizers ?? []).length === 0) this.#namespaces.remove(stored);
    else this.#namespaces.write(next);
  }

  /** Writes conditions to the namespace's status that say what it is waiting for. */
  #writeConditions(name: string, resources: readonly ServedResource[]): void {
    const stored = this.#namespaces.get("", name)!;
    const counts = resources
      .map((resource) => ({ resource, count: resource.storage.list(name).length }))
      .filter(({ count }) => count > 0);
    const remaining = counts
      .map(({ resource, count }) => `${resource.resource}.${resource.group} has ${count} resource instances`)
      .join(", ");
    const finalizers = new Map<string, number>();
    for (const { resource } of counts) {
      for (const { object } of resource.storage.list(name))
        for (const finalizer of object.metadata.finalizers ?? [])
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    }
    const waiting = [...finalizers]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const lastTransitionTime = formatTime(this.#clock.now());
    const condition = (type: string, status: "True" | "False", reason: string, message: string): object => ({
      type: `Namespace${type}`,
      status,
      lastTransitionTime,
      reason,
      message,
    });
    const conditions = [
      condition("DeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"),
      condition(
        "DeletionGroupVersionParsingFailure",
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
      ),
      condition(
        "DeletionContentFailure",
        "False",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
      ),
      condition("ContentRemaining", "True", "SomeResourcesRemain", `Some resources are remaining: ${remaining}`),
      waiting.length > 0
        ? condition(
            "FinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            `Some content in the namespace has finalizers remaining: ${waiting.join(", ")}`,
          )
        : condition(
            "FinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
          ),
    ];
    const next = mutableCopy(stored.object) as NamespaceObject;
    const before = JSON.stringify(withoutTimes(next.status?.conditions ?? []));
    if (before === JSON.stringify(withoutTimes(conditions))) return;
    next.status = { ...next.status, conditions };
    this.#namespaces.write(next);
  }
}

function withoutTimes(conditions: readonly object[]): object[] {
  return conditions.map((item) => ({ ...item, lastTransitionTime: undefined }));
}

function isPods({ group, resource }: ServedResource): boolean {
  return group === "" && resource === "pods";
}

/** Returns one resource per storage: the served resource whose version objects are stored in, if there is one. */
function uniqueByStorage(resources: readonly ServedResource[]): ServedResource[] {
  const byStorage = new Map<ResourceStorage, ServedResource>();
  for (const resource of resources)
    if (!byStorage.has(resource.storage) || isStoredAs(resource)) byStorage.set(resource.storage, resource);
  return [...byStorage.values()];
}
