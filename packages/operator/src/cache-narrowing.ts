import { isDeepStrictEqual } from "node:util";

import {
  type DeepReadonly,
  type KubernetesObject,
  type LabelSelector,
  type ResourceDefinition,
  definitionKey,
  formatLabelSelector,
  labelSelectorMatcher,
  qualifiedResource,
} from "@kubewright/api";
import type { Transform } from "@kubewright/informer";

import type { ControllerDescription } from "./operator-description.js";

/**
 * Restricts what the cache of a resource stores. The API server applies the selectors, so other objects are neither
 * sent nor stored. An object that begins to match is added, and one that stops matching is deleted from the cache.
 *
 * @see controller-runtime pkg/cache Options.ByObject
 */
export interface CacheNarrowing<T extends KubernetesObject = KubernetesObject> {
  /** Default: all objects. */
  readonly labelSelector?: LabelSelector | undefined;
  /** In the syntax of the API server, such as `type=kubernetes.io/tls`. Default: all objects. */
  readonly fieldSelector?: string | undefined;
  /** Namespaces of the cached objects. Default: those of the operator. Not with sharding, nor for cluster scope. */
  readonly namespaces?: readonly string[] | undefined;
  /**
   * Removes parts of an object before it is stored. Must be pure, and must not change its argument, nor name, namespace,
   * UID, resourceVersion, owner references and finalizers. Do not `update` with a transformed object: it lacks fields.
   */
  readonly transform?: Transform<T> | undefined;
}

/** The narrowing of one resource, for the option `caches` of `createOperator`. */
export interface NarrowedCache extends CacheNarrowing {
  readonly definition: ResourceDefinition<KubernetesObject>;
}

/** Narrows the cache of a resource for all controllers of an operator. For only the metadata see `metadataOnly`. */
export function narrowCache<T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  narrowing: CacheNarrowing<NoInfer<T>>,
): NarrowedCache {
  return { ...(narrowing as unknown as CacheNarrowing), definition };
}

/** The narrowings of an operator by {@link definitionKey}. A resource that is not in the map is cached as a whole. */
export type CacheNarrowings = ReadonlyMap<string, CacheNarrowing>;

/**
 * Returns how each cache is narrowed: by the option of a controller, else by that of the operator.
 *
 * @throws Error when two uses of a resource differ, or a narrowing cannot apply to its resource.
 */
export function cacheNarrowings(
  controllers: readonly ControllerDescription[],
  caches: readonly NarrowedCache[] = [],
): CacheNarrowings {
  const ofOperator = new Map<string, Use>();
  for (const { definition, ...narrowing } of caches) {
    checkNarrowing(definition, narrowing);
    agree(ofOperator, definition, { narrowing, user: "the operator" });
  }
  const uses = new Map(ofOperator);
  for (const { name, resources } of controllers) {
    for (const { role, definition, cache } of resources) {
      if (role === "writes") continue;
      if (cache !== undefined) checkNarrowing(definition, cache);
      const narrowing = cache ?? ofOperator.get(definitionKey(definition))?.narrowing;
      agree(uses, definition, { narrowing, user: `controller ${JSON.stringify(name)}` });
    }
  }
  return new Map([...uses].flatMap(([key, { narrowing }]) => (narrowing === undefined ? [] : [[key, narrowing]])));
}

interface Use {
  readonly narrowing: CacheNarrowing | undefined;
  readonly user: string;
}

function agree(uses: Map<string, Use>, definition: ResourceDefinition, use: Use): void {
  const key = definitionKey(definition);
  const other = uses.get(key);
  if (other === undefined) uses.set(key, use);
  else if (!isDeepStrictEqual(canonical(other.narrowing), canonical(use.narrowing)))
    throw new Error(
      `${qualifiedResource(definition)} has one cache, but ${other.user} narrows it to ${describe(other.narrowing)} and ${use.user} to ${describe(use.narrowing)}: narrow it once, in "caches" of createOperator`,
    );
}

function canonical(narrowing: CacheNarrowing = {}): object {
  const { labelSelector, fieldSelector = "", namespaces = [], transform } = narrowing;
  return {
    labelSelector: formatLabelSelector(labelSelector),
    fieldSelector,
    namespaces: [...namespaces].sort(),
    transform,
  };
}

function describe(narrowing: CacheNarrowing | undefined): string {
  const { labelSelector, fieldSelector = "", namespaces = [], transform } = narrowing ?? {};
  const labels = formatLabelSelector(labelSelector);
  const terms = [
    ...(labels === "" ? [] : [`labels ${JSON.stringify(labels)}`]),
    ...(fieldSelector === "" ? [] : [`fields ${JSON.stringify(fieldSelector)}`]),
    ...(namespaces.length === 0 ? [] : [`namespaces ${namespaces.join()}`]),
    ...(transform === undefined ? [] : ["a transform"]),
  ];
  return terms.length === 0 ? "nothing (all objects)" : terms.join(" and ");
}

function checkNarrowing(definition: ResourceDefinition, { namespaces, labelSelector }: CacheNarrowing): void {
  if (namespaces !== undefined && !definition.namespaced)
    throw new Error(`${qualifiedResource(definition)} is cluster-scoped: its cache cannot be narrowed to namespaces`);
  // Throws for an unknown operator.
  labelSelectorMatcher(labelSelector);
}

/** Whether a cache with this narrowing stores the object, as far as labels and fields of the object show it. */
export function isSelected(
  { labelSelector, fieldSelector = "" }: CacheNarrowing,
  object: DeepReadonly<KubernetesObject>,
): boolean {
  if (!labelSelectorMatcher(labelSelector ?? {})(object.metadata.labels)) return false;
  return fieldSelector.split(",").every((term) => {
    const [, path = "", operator, value] = /^([^=!]+)(!=|==?)(.*)$/.exec(term) ?? [];
    return operator === undefined || (fieldOf(object, path) === value) === (operator !== "!=");
  });
}

function fieldOf(object: object, path: string): string {
  let value: unknown = object;
  for (const name of path.split("."))
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" || typeof value === "boolean" || typeof value === "number" ? String(value) : "";
}
