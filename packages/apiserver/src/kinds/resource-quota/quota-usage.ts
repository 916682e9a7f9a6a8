import type { KubernetesObject, ResourceQuota } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import { jsonEqual } from "../../json.js";
import type { ResourceRegistry } from "../../resource-registry.js";
import type { ServedResource } from "../../served-resource.js";
import type { Change } from "../../storage/change.js";
import type { ChangeListener, ResourceStorage } from "../../storage/resource-storage.js";
import type { StoredObject } from "../../storage/stored-object.js";
import { type Amounts, amountsOf } from "../pod/pod-resources.js";
import { maskAmounts, differenceOf, resourcesOf, sumOf, withoutZeros } from "./amounts.js";
import { type Evaluator, evaluatorOf } from "./evaluators.js";

export interface QuotaUsageOptions {
  readonly clock: Clock;
  readonly registry: ResourceRegistry;
  readonly quotas: ResourceStorage;
  /** Whether new and changed quotas are recounted, and deleted objects reduce the usage. */
  readonly recounts: boolean;
}

const NOTHING: Amounts = new Map();

/**
 * Keeps `status.used` of quotas up to date. An object is charged in the same step in which it is stored, so only stored
 * objects are charged.
 *
 * With `recounts` the class also does the work of kube-controller-manager's resource quota controller. Then `used`
 * always equals a recount. Namespaces without quotas cost nothing.
 *
 * Unlike upstream, a terminating pod counts until it is removed, even past its grace period.
 *
 * Upstream: plugin `ResourceQuota`, and `pkg/controller/resourcequota`.
 */
export class QuotaUsage {
  readonly #clock: Clock;
  readonly #registry: ResourceRegistry;
  readonly #quotas: ResourceStorage;
  readonly #recounts: boolean;
  /** The storage listeners by namespace. */
  readonly #listeners = new Map<string, Map<ResourceStorage, ChangeListener>>();
  readonly #pending = new Map<string, StoredObject>();

  private constructor(options: QuotaUsageOptions) {
    this.#clock = options.clock;
    this.#registry = options.registry;
    this.#quotas = options.quotas;
    this.#recounts = options.recounts;
  }

  static start(options: QuotaUsageOptions): QuotaUsage {
    const quotaUsage = new QuotaUsage(options);
    options.quotas.follow({ onChange: (change) => quotaUsage.#onQuota(change) });
    for (const stored of options.quotas.list()) quotaUsage.#scheduleRecount(stored);
    return quotaUsage;
  }

  /** Charges all further changes of the resource's objects in a namespace. */
  follow(resource: ServedResource, namespace: string): void {
    const { storage } = resource;
    let storages = this.#listeners.get(namespace);
    if (storages === undefined) this.#listeners.set(namespace, (storages = new Map()));
    if (storages.has(storage)) return;
    const evaluator = evaluatorOf(resource);
    const charge = (change: Change): void => this.#charge(namespace, evaluator, change);
    const listener: ChangeListener = {
      interest: { by: "namespace", value: namespace },
      // Listeners of quotas must receive the new quota before the changes that it causes.
      onChange: storage === this.#quotas ? (change) => void this.#clock.setTimer(0, () => charge(change)) : charge,
    };
    storages.set(storage, listener);
    storage.follow(listener);
  }

  #onQuota({ previous, current, subject: { namespace } }: Change): void {
    if (current !== undefined) {
      if (previous === undefined || !jsonEqual(specOf(previous), specOf(current))) this.#scheduleRecount(current);
      return;
    }
    if (this.#quotas.list(namespace).length > 0) return;
    for (const [storage, listener] of this.#listeners.get(namespace) ?? []) storage.unfollow(listener);
    this.#listeners.delete(namespace);
  }

  /** Schedules a recount of a quota. */
  #scheduleRecount(stored: StoredObject): void {
    if (!this.#recounts) return;
    this.#pending.set(`${stored.namespace}/${stored.name}`, stored);
    if (this.#pending.size > 1) return;
    this.#clock.setTimer(0, () => {
      const due = [...this.#pending.values()];
      this.#pending.clear();
      for (const { namespace, name } of due) {
        const quota = this.#quotas.get(namespace, name);
        if (quota !== undefined) this.#recount(quota);
      }
    });
  }

  #recount(stored: StoredObject): void {
    const { namespace } = stored;
    const hard = specOf(stored).hard ?? {};
    let used: Amounts = NOTHING;
    const seen = new Set<ResourceStorage>();
    for (const resource of this.#registry.all()) {
      const { storage } = resource;
      if (!resource.namespaced || resource.view !== undefined || seen.has(storage)) continue;
      seen.add(storage);
      this.follow(resource, namespace);
      const evaluator = evaluatorOf(resource);
      const names = new Set(Object.keys(hard).filter((name) => evaluator.counts(name)));
      if (names.size === 0) continue;
      used = sumOf(used, amountsOf(Object.fromEntries([...names].map((name) => [name, "0"]))));
      for (const { object } of storage.list(namespace))
        used = sumOf(used, maskAmounts(usageCountedBy(stored, evaluator, object), names));
    }
    this.#write(stored, { hard: { ...hard }, used: resourcesOf(used) });
  }

  #charge(namespace: string, evaluator: Evaluator, { previous, current }: Change): void {
    for (const stored of this.#quotas.list(namespace)) {
      const { status = {} } = stored.object as ResourceQuota;
      const used = status.used ?? {};
      const names = new Set(Object.keys(used).filter((name) => evaluator.counts(name)));
      if (names.size === 0) continue;
      const count = (version: StoredObject | undefined): Amounts =>
        version === undefined ? NOTHING : maskAmounts(usageCountedBy(stored, evaluator, version.object), names);
      const changed = withoutZeros(differenceOf(count(current), count(previous)));
      const charged = this.#recounts ? changed : new Map([...changed].filter(([, { nanos }]) => nanos > 0n));
      if (charged.size === 0) continue;
      const sum = maskAmounts(sumOf(amountsOf(used), charged), new Set(charged.keys()));
      this.#write(stored, { ...status, used: { ...used, ...resourcesOf(sum) } });
    }
  }

  #write({ object }: StoredObject, status: NonNullable<ResourceQuota["status"]>): void {
    const quota = object as ResourceQuota;
    if (jsonEqual(quota.status, status)) return;
    const next: ResourceQuota = { ...quota, metadata: { ...quota.metadata }, status };
    this.#quotas.write(next);
  }
}

function usageCountedBy(quota: StoredObject, evaluator: Evaluator, object: KubernetesObject): Amounts {
  return evaluator.isInScope(object, specOf(quota)) ? evaluator.usage(object) : NOTHING;
}

function specOf({ object }: StoredObject): NonNullable<ResourceQuota["spec"]> {
  return (object as ResourceQuota).spec ?? {};
}
