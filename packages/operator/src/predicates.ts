import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

/**
 * Filters the changes that trigger reconciles. A missing function accepts all changes.
 *
 * @see controller-runtime pkg/predicate
 */
export interface Predicate<T extends KubernetesObject = KubernetesObject> {
  readonly create?: (object: DeepReadonly<T>) => boolean;
  readonly update?: (old: DeepReadonly<T>, object: DeepReadonly<T>) => boolean;
  readonly delete?: (object: DeepReadonly<T>) => boolean;
}

/**
 * Accepts updates that change `metadata.generation`: changes of the spec, and the start of a deletion, but not of the
 * status. Works for kinds with a generation: most built-in ones, and custom resources with a status subresource.
 */
export const generationChanged: Predicate = {
  update: (old, object) => old.metadata.generation !== object.metadata.generation,
};

/** Accepts updates of labels. */
export const labelsChanged: Predicate = {
  update: (old, object) => !sameEntries(old.metadata.labels, object.metadata.labels),
};

/** Accepts updates of annotations. */
export const annotationsChanged: Predicate = {
  update: (old, object) => !sameEntries(old.metadata.annotations, object.metadata.annotations),
};

/** Accepts real updates: no resyncs, and no relists of unchanged objects. */
export const resourceVersionChanged: Predicate = {
  update: (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
};

/** Accepts changes of objects that satisfy `isTrue`; updates, if the old or the new object does. */
export function where<T extends KubernetesObject>(isTrue: (object: DeepReadonly<T>) => boolean): Predicate<T> {
  return { create: isTrue, update: (old, object) => isTrue(old) || isTrue(object), delete: isTrue };
}

/** Accepts changes that all predicates accept. */
export function and<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.every((each) => each.create?.(object) ?? true),
    update: (old, object) => predicates.every((each) => each.update?.(old, object) ?? true),
    delete: (object) => predicates.every((each) => each.delete?.(object) ?? true),
  };
}

/** Accepts changes that at least one predicate accepts. */
export function or<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.some((each) => each.create?.(object) ?? true),
    update: (old, object) => predicates.some((each) => each.update?.(old, object) ?? true),
    delete: (object) => predicates.some((each) => each.delete?.(object) ?? true),
  };
}

/**
 * Accepts changes that the predicate rejects. If the predicate filters only updates, the result rejects all creates and
 * deletes.
 */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return {
    create: (object) => !(predicate.create?.(object) ?? true),
    update: (old, object) => !(predicate.update?.(old, object) ?? true),
    delete: (object) => !(predicate.delete?.(object) ?? true),
  };
}

type Entries = Readonly<Record<string, string>> | undefined;

function sameEntries(one: Entries = {}, other: Entries = {}): boolean {
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && one[key] === other[key])
  );
}
