import type { CustomResourceDefinition } from "@kubewright/api";

import type { CustomResource } from "../custom-resource/custom-resource.js";
import type { CustomResourceVersion } from "../custom-resource/custom-resource-version.js";
import type { OtherVersion } from "../custom-resource/define-version.js";
import { definitionOf } from "../custom-resource/definition.js";
import type { OperatorDescription } from "../operator-description.js";
import { isConversion } from "../webhooks/configurations.js";
import type { Webhook } from "../webhooks/webhook.js";

/** The exports that manifests are created from. */
export interface FoundExports {
  readonly operators: readonly OperatorDescription[];
  readonly webhooks: readonly Webhook[];
  readonly definitions: readonly CustomResourceDefinition[];
  /** Versions that a webhook must convert, as `Backup v1alpha1`. */
  readonly converted: readonly string[];
}

/**
 * Finds operators, webhooks (also in arrays), custom resources and their versions in the exports of modules. Also finds
 * the custom resources that operators and webhooks use. Duplicates count once.
 *
 * @throws CustomResourceError when versions are inconsistent.
 */
export function findExports(modules: readonly object[]): FoundExports {
  const values = new Set(
    modules
      .flatMap((module) => Object.values(module) as unknown[])
      .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value])),
  );
  const all = [...values].filter((value): value is object => typeof value === "object" && value !== null);
  const operators = all.filter(isOperator);
  const webhooks = [
    ...new Set([...all.filter(isWebhook), ...operators.flatMap(({ options }) => options.webhooks ?? [])]),
  ];
  const used = [
    ...operators.flatMap(({ controllers }) =>
      controllers.flatMap(({ resources }) => resources.map(({ definition }) => definition)),
    ),
    ...webhooks.flatMap((webhook) => [webhook.definition, ...(isConversion(webhook) ? webhook.versions : [])]),
  ];
  const versions = new Set([...all, ...used].filter(isVersion));
  const byStored = new Map<CustomResourceVersion, OtherVersion[]>();
  for (const version of versions) {
    const stored = isOther(version) ? version.stored : version;
    const others = byStored.get(stored) ?? [];
    if (isOther(version)) others.push(version);
    byStored.set(stored, others);
  }
  return {
    operators,
    webhooks,
    definitions: [...byStored].map(([stored, others]) => definitionOf(stored, others)),
    converted: [...byStored.values()].flatMap((others) =>
      others.filter(({ conversion }) => conversion !== undefined).map(({ kind, version }) => `${kind} ${version}`),
    ),
  };
}

function isOperator(value: object): value is OperatorDescription {
  const { name, options, controllers } = value as Partial<OperatorDescription>;
  return typeof name === "string" && typeof options === "object" && Array.isArray(controllers);
}

function isWebhook(value: object): value is Webhook {
  const { type, path, review } = value as Partial<Webhook>;
  return typeof type === "string" && typeof path === "string" && typeof review === "function";
}

function isVersion(value: object): value is CustomResource | OtherVersion {
  const { openAPIV3Schema, names } = value as Partial<CustomResourceVersion>;
  return typeof openAPIV3Schema === "object" && typeof names === "object";
}

function isOther(version: CustomResource | OtherVersion): version is OtherVersion {
  return "stored" in version;
}
