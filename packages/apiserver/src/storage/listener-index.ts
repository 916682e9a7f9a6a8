import type { Change } from "./change.js";
import type { ChangeListener } from "./resource-storage.js";

/** Property that all objects relevant to a listener have in common. */
export type Interest =
  | { readonly by: "name"; readonly value: string }
  | { readonly by: "label"; readonly key: string; readonly value: string }
  | { readonly by: "namespace"; readonly value: string };

type Group = Map<string, Set<ChangeListener>>;

/** Listeners of a resource, indexed by interest, so that a change reaches few of many watchers. */
export class ListenerIndex {
  readonly #everything = new Set<ChangeListener>();
  /** The same listeners as an array, which is faster to iterate; they rarely change. */
  #everyone: readonly ChangeListener[] | undefined;
  readonly #names: Group = new Map();
  readonly #namespaces: Group = new Map();
  /** By label. */
  readonly #labels = new Map<string, Group>();

  add(listener: ChangeListener): void {
    const { interest } = listener;
    if (interest === undefined) {
      this.#everything.add(listener);
      this.#everyone = undefined;
      return;
    }
    const group = this.#groupOf(interest);
    const listeners = group.get(interest.value);
    if (listeners === undefined) group.set(interest.value, new Set([listener]));
    else listeners.add(listener);
  }

  delete(listener: ChangeListener): void {
    const { interest } = listener;
    if (interest === undefined) {
      this.#everything.delete(listener);
      this.#everyone = undefined;
      return;
    }
    const group = this.#groupOf(interest);
    const listeners = group.get(interest.value);
    listeners?.delete(listener);
    if (listeners?.size === 0) group.delete(interest.value);
    if (interest.by === "label" && group.size === 0) this.#labels.delete(interest.key);
  }

  clear(): void {
    for (const group of [this.#names, this.#namespaces, this.#labels]) group.clear();
    this.#everything.clear();
    this.#everyone = undefined;
  }

  /** Returns a copy, because listeners remove themselves when they end. */
  all(): ChangeListener[] {
    const groups = [this.#names, this.#namespaces, ...this.#labels.values()];
    return [...this.#everything, ...groups.flatMap((group) => [...group.values()].flatMap((set) => [...set]))];
  }

  /** Notifies each listener whose interest matches the change, once. */
  notify(change: Change): void {
    const { subject, previous, current } = change;
    const everyone = this.#everyone ?? [...this.#everything];
    this.#everyone = everyone;
    for (const listener of everyone) listener.onChange(change);
    if (this.#names.size > 0) notifySet(this.#names.get(subject.name), change);
    if (this.#namespaces.size > 0) notifySet(this.#namespaces.get(subject.namespace), change);
    if (this.#labels.size === 0) return;
    for (const [key, group] of this.#labels) {
      const before = previous?.object.metadata.labels?.[key];
      const after = current?.object.metadata.labels?.[key];
      if (after !== undefined) notifySet(group.get(after), change);
      if (before !== undefined && before !== after) notifySet(group.get(before), change);
    }
  }

  #groupOf(interest: Interest): Group {
    switch (interest.by) {
      case "name":
        return this.#names;
      case "namespace":
        return this.#namespaces;
      case "label": {
        let group = this.#labels.get(interest.key);
        if (group === undefined) this.#labels.set(interest.key, (group = new Map()));
        return group;
      }
      default:
        return interest satisfies never;
    }
  }
}

function notifySet(listeners: ReadonlySet<ChangeListener> | undefined, change: Change): void {
  if (listeners !== undefined) for (const listener of listeners) listener.onChange(change);
}
