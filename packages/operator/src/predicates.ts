import type { DeepReadonly, KubernetesObject } from "@kubewright/api";

/**
 * Chooses the changes a controller looks at. What is left out passes.
 *
 * @see controller-runtime pkg/predicate
 */
export interface Predicate<T extends KubernetesObject = KubernetesObject> {
  readonly create?: (object: DeepReadonly<T>) => boolean;
  readonly update?: (old: DeepReadonly<T>, object: DeepReadonly<T>) => boolean;
  readonly delete?: (object: DeepReadonly<T>) => boolean;
}

/**
 * Updates of what is wanted: of the spec, which alone counts up `metadata.generation`, and the beginning of a deletion. Not
 * of the status. For kinds whose generation is counted: most built-in ones, and custom resources with a status subresource.
 */
export const generationChanged: Predicate = {
  update: (old, object) => old.metadata.generation !== object.metadata.generation,
};

/** Updates of labels. */
export const labelsChanged: Predicate = {
  update: (old, object) => !sameEntries(old.metadata.labels, object.metadata.labels),
};

/** Updates of annotations. */
export const annotationsChanged: Predicate = {
  update: (old, object) => !sameEntries(old.metadata.annotations, object.metadata.annotations),
};

/** Updates that are some: not a resync, nor a list that shows what was known. */
export const resourceVersionChanged: Predicate = {
  update: (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
};

/** Every change of objects of which this is true: of one that it begins or ceases to be true of, that update too. */
export function where<T extends KubernetesObject>(isTrue: (object: DeepReadonly<T>) => boolean): Predicate<T> {
  return { create: isTrue, update: (old, object) => isTrue(old) || isTrue(object), delete: isTrue };
}

/** What passes all of them. */
export function and<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.every((each) => each.create?.(object) ?? true),
    update: (old, object) => predicates.every((each) => each.update?.(old, object) ?? true),
    delete: (object) => predicates.every((each) => each.delete?.(object) ?? true),
  };
}

/** What passes one of them. */
export function or<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.some((each) => each.create?.(object) ?? true),
    update: (old, object) => predicates.some((each) => each.update?.(old, object) ?? true),
    delete: (object) => predicates.some((each) => each.delete?.(object) ?? true),
  };
}

/** What does not pass it: with a predicate of updates only, no creation and no deletion passes. */
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
