import {
  type DeepReadonly,
  type KubernetesObject,
  type LabelMatcher,
  formatShardSelector,
  shardMatcher,
} from "@kubewright/api";

import type { ApiCall } from "./api-call.js";
import { badRequest } from "./api-error.js";
import { type FieldTerm, parseFieldSelector } from "./field-selector-query.js";
import { parseLabelSelector, SelectorError } from "./label-selector-query.js";
import { type ServedResource } from "./served-resource.js";
import { parseShardSelector } from "./shard-selector-query.js";
import type { ObjectMatcher } from "./storage/watcher.js";

/** The selectors of a list, watch or deletecollection. */
export interface Selection {
  /**
   * Label and field selectors; `undefined`: every object matches. Applies to objects in the version of the resource.
   */
  readonly matches: ObjectMatcher | undefined;
  /** The only name that can match, if there is one. */
  readonly name: string | undefined;
  /** A label and value that every selected object has, if there is one. */
  readonly label: { readonly key: string; readonly value: string } | undefined;
  readonly shard: ShardSelection | undefined;
}

/** A shard of a collection. It matches stored and converted objects equally. */
export interface ShardSelection {
  /** The selector in canonical form, for responses. */
  readonly canonical: string;
  readonly matches: ObjectMatcher;
}

type ContentSelection = Omit<Selection, "shard">;

const EVERYTHING: ContentSelection = { matches: undefined, name: undefined, label: undefined };

/**
 * Reads the selectors of a request.
 *
 * @throws ApiError 400 for a selector that cannot be parsed or that uses an unsupported field, 500 for a shard selector
 * that cannot be parsed.
 */
export function readSelection(call: ApiCall): Selection {
  return { ...readContentSelection(call), shard: readShard(call) };
}

/** Returns a matcher for all selectors together. */
export function combinedMatcher({ matches, shard }: Selection): ObjectMatcher | undefined {
  if (matches === undefined || shard === undefined) return matches ?? shard?.matches;
  return (object) => shard.matches(object) && matches(object);
}

/** With the feature gate off, the parameter is ignored like any unknown parameter. */
function readShard({ query, server }: ApiCall): ShardSelection | undefined {
  if (!server.featureGates.ShardedListAndWatch) return undefined;
  const text = query.get("shardSelector") ?? "";
  if (text === "") return undefined;
  const selector = parseShardSelector(text);
  return { canonical: formatShardSelector(selector), matches: shardMatcher(selector) };
}

function readContentSelection(call: ApiCall): ContentSelection {
  const labelText = call.query.get("labelSelector") ?? "";
  const fieldText = call.query.get("fieldSelector") ?? "";
  if (labelText === "" && fieldText === "") return EVERYTHING;
  const { resource } = call.target;
  try {
    const labels = labelText === "" ? undefined : parseLabelSelector(labelText);
    const terms = fieldText === "" ? [] : parseFieldSelector(fieldText);
    const fields = terms.map((term) => fieldMatcher(resource, term));
    if (labels === undefined && fields.length === 0) return EVERYTHING;
    const name = terms.find((term) => term.equal && term.field === "metadata.name")?.value;
    return { matches: combine(labels, fields), name, label: commonLabel(labelText) };
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

/** Returns the first `key=value` of a valid selector. Selectors with value lists are not searched. */
function commonLabel(labelText: string): Selection["label"] {
  if (labelText.includes("(")) return undefined;
  for (const term of labelText.split(",")) {
    const [, key, value] = /^\s*([\w./-]+)\s*==?\s*([\w.-]+)\s*$/.exec(term) ?? [];
    if (key !== undefined && value !== undefined) return { key, value };
  }
  return undefined;
}

function combine(labels: LabelMatcher | undefined, fields: readonly ObjectMatcher[]): ObjectMatcher {
  return (object) => (labels === undefined || labels(object.metadata.labels)) && fields.every((field) => field(object));
}

function fieldMatcher(resource: ServedResource, { field, value, equal }: FieldTerm): ObjectMatcher {
  const read = fieldReader(resource, field);
  return (object) => (read(object) === value) === equal;
}

function fieldReader(resource: ServedResource, field: string): (object: DeepReadonly<KubernetesObject>) => string {
  if (field === "metadata.name") return (object) => object.metadata.name ?? "";
  if (field === "metadata.namespace" && resource.namespaced) return (object) => object.metadata.namespace ?? "";
  const selectors = resource.strategy.fieldSelectors;
  if (selectors !== undefined && Object.hasOwn(selectors, field))
    return selectors[field] as unknown as (object: DeepReadonly<KubernetesObject>) => string;
  throw badRequest(unsupportedField(resource, field));
}

/** Returns upstream's message, which differs between kinds with field selectors of their own. */
function unsupportedField(resource: ServedResource, field: string): string {
  const own = resource.strategy.fieldSelectors;
  if (resource.group === "batch" && own !== undefined)
    return `field label ${JSON.stringify(field)} not supported for ${resource.kind}`;
  if (own !== undefined && resource.custom === undefined) return `field label not supported: ${field}`;
  if (resource.custom !== undefined) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
