import {
  type DeepReadonly,
  type KubernetesObject,
  type ResourceDefinition,
  definitionKey,
  formatLabelSelector,
} from "@kubewright/api";
import type { Reader, ReaderFactory } from "@kubewright/client";
import { type AnyTransform, withoutManagedFields } from "@kubewright/informer";

import type { CacheNarrowings } from "./cache-narrowing.js";

/** Creates readers whose lists and watches have the selectors of the operator's narrowings. */
export function narrowedReaders(client: ReaderFactory, narrowings: CacheNarrowings): ReaderFactory {
  return {
    resource: (definition) => {
      const reader = client.resource(definition);
      const { labelSelector, fieldSelector } = narrowings.get(definitionKey(definition)) ?? {};
      const labels = formatLabelSelector(labelSelector) || undefined;
      return labels === undefined && !fieldSelector ? reader : selected(reader, labels, fieldSelector || undefined);
    },
  };
}

function selected<T extends KubernetesObject>(
  reader: Reader<T>,
  labelSelector: string | undefined,
  fieldSelector: string | undefined,
): Reader<T> {
  return {
    definition: reader.definition,
    get: (name, options) => reader.get(name, options),
    list: (options) => reader.list({ ...options, labelSelector, fieldSelector }),
    watch: (options) => reader.watch({ ...options, labelSelector, fieldSelector }),
  };
}

/** Removes `managedFields`, and what the transform of the resource's narrowing removes. */
export function narrowedTransform(narrowings: CacheNarrowings): AnyTransform {
  return <T extends KubernetesObject>(object: DeepReadonly<T>, definition: ResourceDefinition) => {
    const own = narrowings.get(definitionKey(definition))?.transform;
    const smaller = withoutManagedFields(object);
    return own === undefined ? smaller : (own(smaller) as DeepReadonly<T>);
  };
}
