import type { KubernetesObject } from "@kubewright/api";

import type { ScalePaths } from "../scale-paths.js";
import type { WebhookClientConfig } from "../validation/webhook-client-config.js";
import type { StructuralSchema } from "./structural-schema.js";

/** The fields of a CustomResourceDefinition that the server reads. */
export interface Definition extends KubernetesObject {
  spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: DefinitionNames;
    readonly versions: readonly DefinitionVersion[];
    readonly conversion?: { readonly strategy: string; readonly webhook?: WebhookConversion };
  };
  status?: { acceptedNames?: DefinitionNames; conditions?: DefinitionCondition[]; storedVersions?: string[] };
}

export interface WebhookConversion {
  readonly clientConfig: WebhookClientConfig;
  readonly conversionReviewVersions: readonly string[];
}

export interface DefinitionNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly {
    name: string;
    type: string;
    jsonPath: string;
    format?: string;
    description?: string;
    priority?: number;
  }[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

export function definitionCondition(
  type: string,
  status: boolean,
  reason: string,
  message: string,
  lastTransitionTime: string,
): DefinitionCondition {
  return { type, status: status ? "True" : "False", lastTransitionTime, reason, message };
}

/** Returns the conditions with `next` in place of the condition of the same type, or appended. */
export function withDefinitionCondition(
  conditions: readonly DefinitionCondition[] | undefined,
  next: DefinitionCondition,
): DefinitionCondition[] {
  const others = conditions ?? [];
  const index = others.findIndex(({ type }) => type === next.type);
  return index < 0 ? [...others, next] : others.with(index, next);
}
