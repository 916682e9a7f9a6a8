import { type DeepReadonly, type LabelMatcher, type LabelSelector, labelSelectorMatcher } from "@kubewright/api";

import { notFound } from "../api-error.js";
import type { MatchResources, OperationRule } from "../kinds/admissionregistration/rule-validation.js";
import type { AdmissionAttributes } from "../registry/admission.js";
import type { ServedResource } from "../served-resource.js";

const GROUP = "admissionregistration.k8s.io";

/**
 * Whether admission skips the resource: webhook and policy configurations, because a wrong one could otherwise not be
 * corrected. Upstream: `rules.IsExemptAdmissionConfigurationResource`.
 */
export function isExempt({ group, resource }: Pick<ServedResource, "group" | "resource">): boolean {
  return (
    group === GROUP &&
    /^(?:validatingwebhookconfigurations|mutatingwebhookconfigurations|(?:validating|mutating)admissionpolic(?:ies|ybindings))$/.test(
      resource,
    )
  );
}

/**
 * Decides which requests a webhook or a policy applies to. Upstream: apiserver
 * `pkg/admission/plugin/webhook/predicates`, `plugin/policy/matching`.
 */
export class RequestMatcher {
  readonly #rules: readonly OperationRule[];
  readonly #excluded: readonly OperationRule[];
  readonly #matchesEquivalents: boolean;
  readonly #namespace: LabelMatcher | undefined;
  readonly #object: LabelMatcher | undefined;

  constructor(match: DeepReadonly<MatchResources>) {
    this.#rules = (match.resourceRules ?? []) as readonly OperationRule[];
    this.#excluded = (match.excludeResourceRules ?? []) as readonly OperationRule[];
    this.#matchesEquivalents = match.matchPolicy !== "Exact";
    this.#namespace = selectorMatcher(match.namespaceSelector);
    this.#object = selectorMatcher(match.objectSelector);
  }

  /**
   * Returns the resource that the request matches as: its own resource, or the same objects under another group or
   * version. Returns `undefined` when the request does not match. Without rules every request matches.
   *
   * @throws ApiError 404 when the namespace does not exist.
   */
  match(attributes: AdmissionAttributes): ServedResource | undefined {
    const { resource } = attributes;
    if (!this.#selectsObject(attributes)) return undefined;
    if (this.#matching(this.#excluded, attributes) !== undefined) return undefined;
    const found = this.#rules.length === 0 ? resource : this.#matching(this.#rules, attributes);
    return found !== undefined && this.#selectsNamespace(attributes) ? found : undefined;
  }

  #matching(rules: readonly OperationRule[], attributes: AdmissionAttributes): ServedResource | undefined {
    const { resource } = attributes;
    if (rules.some((rule) => ruleMatches(rule, attributes, resource))) return resource;
    if (!this.#matchesEquivalents || rules.length === 0) return undefined;
    for (const other of attributes.server.registry.all())
      if (other !== resource && other.storage === resource.storage)
        if (rules.some((rule) => ruleMatches(rule, attributes, other))) return other;
    return undefined;
  }

  /** An object selector never matches a CONNECT request: its options have no labels. */
  #selectsObject({ operation, object, oldObject }: AdmissionAttributes): boolean {
    const selects = this.#object;
    if (selects === undefined) return true;
    return operation !== "CONNECT" && [object, oldObject].some((each) => each && selects(each.metadata.labels));
  }

  #selectsNamespace(attributes: AdmissionAttributes): boolean {
    if (this.#namespace === undefined) return true;
    const { resource, subresource, object, namespace, name, server } = attributes;
    const isNamespace = isNamespaces(resource);
    if (!isNamespace && namespace === "") return true;
    if (isNamespace && subresource === "" && object !== undefined) return this.#namespace(object.metadata.labels);
    const stored = server.namespaces.storage.get("", isNamespace ? name : namespace);
    if (stored === undefined) throw notFound(server.namespaces, isNamespace ? name : namespace);
    return this.#namespace(stored.object.metadata.labels);
  }
}

/** `undefined`: the selector is empty and selects everything. */
function selectorMatcher(selector: DeepReadonly<LabelSelector> | undefined): LabelMatcher | undefined {
  if (selector === undefined) return undefined;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return Object.keys(matchLabels).length + matchExpressions.length === 0 ? undefined : labelSelectorMatcher(selector);
}

function isNamespaces({ group, resource }: ServedResource): boolean {
  return group === "" && resource === "namespaces";
}

/** Upstream: `rules.Matcher`. */
function ruleMatches(rule: OperationRule, attributes: AdmissionAttributes, resource: ServedResource): boolean {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], resourceNames = [], scope = "*" } = rule;
  const { operation, subresource, namespace, name } = attributes;
  const isNamespaced = !isNamespaces(resource) && namespace !== "";
  return (
    (scope === "*" || (scope === "Namespaced") === isNamespaced) &&
    has(operations, operation) &&
    has(apiGroups, resource.group) &&
    has(apiVersions, resource.version) &&
    resources.some((text) => {
      const [wanted = "", below = ""] = text.split("/", 2);
      return (wanted === "*" || wanted === resource.resource) && (below === "*" || below === subresource);
    }) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function has(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

/** Whether the admitted object is an object of the resource, not the body of a subresource. */
export function isFullObject({ kind, resource }: AdmissionAttributes): boolean {
  return kind.kind === resource.kind && kind.group === resource.group;
}
