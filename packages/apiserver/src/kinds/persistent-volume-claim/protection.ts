import type { PersistentVolume, Pod } from "@kubewright/api";
import type { Clock } from "@kubewright/clock";

import type { Change } from "../../storage/change.js";
import type { ResourceStorage } from "../../storage/resource-storage.js";
import type { StoredObject } from "../../storage/stored-object.js";
import { PROTECTION_FINALIZER as OF_CLAIMS } from "./admission.js";
import { PROTECTION_FINALIZER as OF_VOLUMES } from "../persistent-volume/admission.js";

export interface StorageProtectionOptions {
  readonly clock: Clock;
  readonly claims: ResourceStorage;
  readonly volumes: ResourceStorage;
  readonly pods: ResourceStorage;
}

/**
 * Removes the protection finalizer of deleted claims that no scheduled pod uses, and of deleted volumes that no claim
 * is bound to. Pods are watched only while a deleted claim waits.
 *
 * Upstream: `pkg/controller/volume/pvcprotection`, `pvprotection`, of kube-controller-manager.
 */
export class StorageProtection {
  readonly #clock: Clock;
  readonly #claims: ResourceStorage;
  readonly #volumes: ResourceStorage;
  readonly #pods: ResourceStorage;
  /** Deleted claims that still have the finalizer, by key. */
  readonly #deletedClaims = new Map<string, StoredObject>();
  #scheduled = false;
  readonly #podListener = {
    onChange: ({ current }: Change): void => {
      if (current === undefined) this.#schedule();
    },
  };
  readonly #deletedVolumes = new Set<string>();

  private constructor({ clock, claims, volumes, pods }: StorageProtectionOptions) {
    this.#clock = clock;
    this.#claims = claims;
    this.#volumes = volumes;
    this.#pods = pods;
  }

  static start(options: StorageProtectionOptions): void {
    const protection = new StorageProtection(options);
    for (const stored of options.claims.list()) protection.#onClaim(stored);
    for (const stored of options.volumes.list()) protection.#onVolume(stored);
    options.claims.follow({ onChange: ({ current }) => current !== undefined && protection.#onClaim(current) });
    options.volumes.follow({ onChange: ({ current }) => current !== undefined && protection.#onVolume(current) });
  }

  #onClaim(stored: StoredObject): void {
    if (!isTerminating(stored, OF_CLAIMS)) return;
    if (this.#deletedClaims.size === 0) this.#pods.follow(this.#podListener);
    this.#deletedClaims.set(`${stored.namespace}/${stored.name}`, stored);
    this.#schedule();
  }

  #onVolume(stored: StoredObject): void {
    if (!isTerminating(stored, OF_VOLUMES) || (stored.object as PersistentVolume).status?.phase === "Bound") return;
    this.#deletedVolumes.add(stored.name);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#clock.setTimer(0, () => {
      this.#scheduled = false;
      this.#removeFinalizers();
    });
  }

  #removeFinalizers(): void {
    const volumes = [...this.#deletedVolumes];
    this.#deletedVolumes.clear();
    for (const name of volumes) removeFinalizer(this.#volumes, this.#volumes.get("", name), OF_VOLUMES);
    const used = new Map<string, ReadonlySet<string>>();
    for (const [key, { namespace, name }] of this.#deletedClaims) {
      let names = used.get(namespace);
      if (names === undefined) used.set(namespace, (names = this.#claimsInUse(namespace)));
      if (names.has(name)) continue;
      this.#deletedClaims.delete(key);
      removeFinalizer(this.#claims, this.#claims.get(namespace, name), OF_CLAIMS);
    }
    if (this.#deletedClaims.size === 0) this.#pods.unfollow(this.#podListener);
  }

  /** Returns the names of the claims that scheduled pods use. */
  #claimsInUse(namespace: string): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { object } of this.#pods.list(namespace)) {
      const { metadata, spec } = object as Pod;
      if (!spec?.nodeName) continue;
      for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? []) {
        if (persistentVolumeClaim !== undefined) names.add(persistentVolumeClaim.claimName);
        if (ephemeral !== undefined) names.add(`${metadata.name}-${name}`);
      }
    }
    return names;
  }
}

function isTerminating({ object: { metadata } }: StoredObject, finalizer: string): boolean {
  return Boolean(metadata.deletionTimestamp) && (metadata.finalizers ?? []).includes(finalizer);
}

/** Removes the finalizer of a terminating object. An object that was recreated in the meantime stays unchanged. */
function removeFinalizer(storage: ResourceStorage, stored: StoredObject | undefined, finalizer: string): void {
  if (stored === undefined || !isTerminating(stored, finalizer)) return;
  const finalizers = stored.object.metadata.finalizers!.filter((each) => each !== finalizer);
  if (finalizers.length === 0) storage.remove(stored);
  else storage.write({ ...stored.object, metadata: { ...stored.object.metadata, finalizers } });
}
