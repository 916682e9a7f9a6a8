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

/** What a list, watch or deletecollection is limited to. */
export interface Selection {
  /** By labels and fields; `undefined`: everything. Applies to objects as the resource shows them. */
  readonly matches: ObjectMatcher | undefined;
  /** Set when only the object of that name can match. */
  readonly name: string | undefined;
  /** A label with a value that everything selected has, if there is one. */
  readonly label: { readonly key: string; readonly value: string } | undefined;
  readonly shard: ShardSelection | undefined;
}

/** A part of a collection that is as good as any other: it is the same for objects as they are stored and as they are shown. */
export interface ShardSelection {
  /** The selector as it is answered. */
  readonly canonical: string;
  readonly matches: ObjectMatcher;
}

type ContentSelection = Omit<Selection, "shard">;

const EVERYTHING: ContentSelection = { matches: undefined, name: undefined, label: undefined };

/**
 * @throws ApiError 400 for a selector that cannot be read or names a field the resource does not offer, 500 for a shard selector
 *   that cannot be read.
 */
export function readSelection(call: ApiCall): Selection {
  return { ...readContentSelection(call), shard: readShard(call) };
}

/** Everything that has to hold of what is selected. */
export function combinedMatcher({ matches, shard }: Selection): ObjectMatcher | undefined {
  if (matches === undefined || shard === undefined) return matches ?? shard?.matches;
  return (object) => shard.matches(object) && matches(object);
}

/** With the gate off the parameter is like any other that nobody knows. */
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

/** The first `key=value` of a selector that has been read without error. Selectors with lists of values are not looked into. */
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

/** Kinds with fields of their own word this in their own ways. */
function unsupportedField(resource: ServedResource, field: string): string {
  const own = resource.strategy.fieldSelectors;
  if (resource.group === "batch" && own !== undefined)
    return `field label ${JSON.stringify(field)} not supported for ${resource.kind}`;
  if (own !== undefined && resource.custom === undefined) return `field label not supported: ${field}`;
  if (resource.custom !== undefined) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
