import type { Clock } from "@kubewright/clock";

import type { Change } from "./storage/change.js";
import type { ChangeListener, ResourceStorage } from "./storage/resource-storage.js";

export const DEFAULT_ACCOUNT = "default";

export interface DefaultAccountsOptions {
  readonly clock: Clock;
  readonly namespaces: ResourceStorage;
  readonly accounts: ResourceStorage;
  /** Makes the account of a namespace, or fails without a word. */
  readonly create: (namespace: string) => void;
}

/**
 * Sees to it that every namespace has a ServiceAccount `default`, from the moment after it was made, and again when somebody
 * deletes it, until the namespace itself is being deleted. Upstream: `pkg/controller/serviceaccount`, of
 * kube-controller-manager.
 */
export class DefaultAccounts implements ChangeListener {
  readonly #clock: Clock;
  readonly #namespaces: ResourceStorage;
  readonly #accounts: ResourceStorage;
  readonly #create: (namespace: string) => void;
  readonly #pending = new Set<string>();

  private constructor(options: DefaultAccountsOptions) {
    this.#clock = options.clock;
    this.#namespaces = options.namespaces;
    this.#accounts = options.accounts;
    this.#create = options.create;
  }

  static start(options: DefaultAccountsOptions): void {
    new DefaultAccounts(options).#start();
  }

  #start(): void {
    for (const { name } of this.#namespaces.list()) this.#makeMissing(name);
    this.#namespaces.follow(this);
    this.#accounts.follow({
      onChange: ({ current, subject }) => {
        if (current === undefined && subject.name === DEFAULT_ACCOUNT) this.#schedule(subject.namespace);
      },
    });
  }

  onChange({ previous, current }: Change): void {
    if (previous === undefined && current !== undefined) this.#schedule(current.name);
  }

  #schedule(namespace: string): void {
    this.#pending.add(namespace);
    if (this.#pending.size > 1) return;
    this.#clock.setTimer(0, () => {
      const names = [...this.#pending];
      this.#pending.clear();
      for (const name of names) this.#makeMissing(name);
    });
  }

  #makeMissing(namespace: string): void {
    const stored = this.#namespaces.get("", namespace);
    if (stored === undefined || stored.object.metadata.deletionTimestamp) return;
    if (this.#accounts.get(namespace, DEFAULT_ACCOUNT) === undefined) this.#create(namespace);
  }
}
