import {
  type DeepReadonly,
  type KubernetesObject,
  type ValidatingAdmissionPolicyBinding,
  labelSelectorMatcher,
} from "@kubewright/api";

import { ApiError, forbidden } from "../api-error.js";
import { type Awaitable, andThen } from "../awaitable.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.js";
import type { ServedResource } from "../served-resource.js";
import type { ResourceStorage } from "../storage/resource-storage.js";
import { presenterFor } from "../stored-versions.js";
import { type AdmissionRequestView, buildRequestView } from "./admission-request.js";
import { CompiledPolicy, type Finding } from "./compiled-policy.js";
import { dynamicValue } from "./dynamic-values.js";
import { expressionVariables } from "./expression-variables.js";
import { AdmissionExpressions } from "./expressions.js";
import { RequestMatcher, isExempt } from "./request-matcher.js";

type Binding = DeepReadonly<ValidatingAdmissionPolicyBinding>;

const FAILURE_KEY = "validation.policy.admission.k8s.io/validation_failure";
const CODES: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 };

/**
 * Applies ValidatingAdmissionPolicies through their bindings. A policy takes effect immediately, upstream after about a
 * second. If several policies deny a request, the response contains the first denial in the order of policy names and
 * binding names.
 *
 * Upstream: apiserver `pkg/admission/plugin/policy/validating`.
 */
export class AdmissionPolicies implements AdmissionPlugin {
  readonly #policies: ResourceStorage;
  readonly #bindings: ResourceStorage;
  readonly #compiler = new AdmissionExpressions();
  /** By stored policy or binding: stored objects never change. */
  readonly #compiled = new WeakMap<object, CompiledPolicy>();
  readonly #matchers = new WeakMap<object, RequestMatcher>();

  constructor(policies: ResourceStorage, bindings: ResourceStorage) {
    this.#policies = policies;
    this.#bindings = bindings;
  }

  concerns(resource: ServedResource): boolean {
    return !isExempt(resource);
  }

  isIdle(): boolean {
    return this.#policies.size === 0 || this.#bindings.size === 0;
  }

  /** @throws ApiError of the first policy that denies the request. */
  validate(attributes: AdmissionAttributes): Awaitable<void> {
    const bindings = this.#bindingsByPolicy();
    const invocations = this.#policies.list().flatMap(({ name, object }) => {
      const annotations = new AuditAnnotationCollector(name);
      return (bindings.get(name) ?? []).map((binding) => ({ policy: this.#policy(object), binding, annotations }));
    });
    return this.#evaluateAll(invocations, attributes, 0, undefined);
  }

  /**
   * Evaluates all invocations from index `first`, because each may add warnings.
   *
   * @throws ApiError of the first denial.
   */
  #evaluateAll(
    invocations: readonly PolicyInvocation[],
    attributes: AdmissionAttributes,
    first: number,
    denial: ApiError | undefined,
  ): Awaitable<void> {
    for (let index = first; index < invocations.length; index++) {
      const denied = this.#evaluate(invocations[index]!, attributes);
      if (denied instanceof Promise)
        return denied.then((later) => this.#evaluateAll(invocations, attributes, index + 1, denial ?? later));
      denial ??= denied;
    }
    for (const collector of new Set(invocations.map((each) => each.annotations))) collector.publish(attributes);
    if (denial !== undefined) throw denial;
  }

  /** Returns the bindings by policy name. */
  #bindingsByPolicy(): ReadonlyMap<string, readonly Binding[]> {
    const bound = new Map<string, Binding[]>();
    for (const { object } of this.#bindings.list()) {
      const binding = object as ValidatingAdmissionPolicyBinding;
      const known = bound.get(binding.spec.policyName);
      if (known === undefined) bound.set(binding.spec.policyName, [binding]);
      else known.push(binding);
    }
    return bound;
  }

  #policy(object: KubernetesObject): CompiledPolicy {
    let policy = this.#compiled.get(object);
    if (policy === undefined) this.#compiled.set(object, (policy = new CompiledPolicy(object, this.#compiler)));
    return policy;
  }

  #matcherOf(binding: Binding): RequestMatcher | undefined {
    const { matchResources } = binding.spec;
    if (matchResources === undefined) return undefined;
    let matcher = this.#matchers.get(binding);
    if (matcher === undefined) this.#matchers.set(binding, (matcher = new RequestMatcher(matchResources)));
    return matcher;
  }

  /** Adds the warnings and annotations that the binding requests. Returns the first denial. */
  #evaluate(invocation: PolicyInvocation, attributes: AdmissionAttributes): Awaitable<ApiError | undefined> {
    const { policy, binding } = invocation;
    const matchedResource = policy.matcher.match(attributes);
    if (matchedResource === undefined) return undefined;
    const matcher = this.#matcherOf(binding);
    if (matcher !== undefined && matcher.match(attributes) === undefined) return undefined;
    return andThen(collectParams(policy, binding, attributes), (params) => {
      if ("problem" in params) {
        if (policy.failsOpen) return undefined;
        return refusal(policy, binding, attributes, { message: params.problem, reason: "Invalid" });
      }
      return andThen(buildRequestView(attributes, matchedResource), (seen) =>
        evaluateWith(invocation, attributes, { seen, params: params.objects }),
      );
    });
  }
}

/** A policy applied through one of its bindings. */
interface PolicyInvocation {
  readonly policy: CompiledPolicy;
  readonly binding: Binding;
  readonly annotations: AuditAnnotationCollector;
}

function evaluateWith(
  { policy, binding, annotations: collector }: PolicyInvocation,
  attributes: AdmissionAttributes,
  { seen, params }: { readonly seen: AdmissionRequestView; readonly params: readonly (KubernetesObject | null)[] },
): ApiError | undefined {
  const variables = expressionVariables(attributes, seen);
  let denial: ApiError | undefined;
  for (const param of params) {
    if (policy.paramKind !== undefined) variables.set("params", dynamicValue(param));
    const { findings, annotations, annotationErrors } = policy.evaluate(variables);
    for (const finding of findings) {
      if (binding.spec.validationActions.includes("Audit"))
        attributes.annotate(FAILURE_KEY, failureAnnotation(policy, binding, finding));
      if (binding.spec.validationActions.includes("Warn"))
        attributes.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.metadata.name}': ${finding.message}`,
        );
      if (binding.spec.validationActions.includes("Deny")) denial ??= refusal(policy, binding, attributes, finding);
    }
    for (const { key, value } of annotations) collector.add(key, value);
    for (const message of annotationErrors)
      denial ??= refusal(policy, binding, attributes, { message, reason: "Invalid" });
  }
  return denial;
}

/** Audit annotations of one policy, collected over its bindings. Upstream: `auditAnnotationCollector`. */
class AuditAnnotationCollector {
  readonly #policy: string;
  readonly #values = new Map<string, Set<string>>();

  constructor(policy: string) {
    this.#policy = policy;
  }

  add(key: string, value: string): void {
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, new Set([value]));
    else known.add(value);
  }

  publish(attributes: AdmissionAttributes): void {
    for (const [key, values] of this.#values) attributes.annotate(`${this.#policy}/${key}`, [...values].join(", "));
  }
}

/** Upstream: `ValidationFailureValue`. */
function failureAnnotation({ name }: CompiledPolicy, { metadata, spec }: Binding, { message, index }: Finding): string {
  const { validationActions } = spec;
  return JSON.stringify([{ message, policy: name, binding: metadata.name, expressionIndex: index, validationActions }]);
}

function refusal(
  policy: CompiledPolicy,
  binding: Binding,
  { resource, name }: AdmissionAttributes,
  { message, reason }: Pick<Finding, "message" | "reason">,
): ApiError {
  const why = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.metadata.name}' denied request: ${message}`;
  const { status } = forbidden(resource, name, why, [{ message: why }]);
  return new ApiError({ ...status, reason, code: CODES[reason] ?? 422 });
}

type Params = { readonly objects: readonly (KubernetesObject | null)[] } | { readonly problem: string };

/** Returns the parameter objects; the policy is evaluated once for each. Upstream: `generic.CollectParams`. */
function collectParams(
  { paramKind }: CompiledPolicy,
  binding: Binding,
  { server, namespace }: AdmissionAttributes,
): Awaitable<Params> {
  const { paramRef } = binding.spec;
  if (paramKind === undefined) return { objects: [null] };
  const { apiVersion, kind } = paramKind;
  const resource = [...server.registry.all()].find((each) => each.apiVersion === apiVersion && each.kind === kind);
  if (resource === undefined) {
    const known = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    return {
      problem: `failed to configure policy: failed to find resource referenced by paramKind: '${known}, Kind=${kind}'`,
    };
  }
  if (paramRef === undefined) return { objects: [null] };
  const problem = (text: string): Params => ({ problem: `failed to configure binding: ${text}` });
  const { name = "", selector } = paramRef;
  if (!resource.namespaced && paramRef.namespace !== undefined)
    return problem("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  const paramNamespace = resource.namespaced ? (paramRef.namespace ?? namespace) : "";
  if (resource.namespaced && paramNamespace === "")
    return problem("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  const { storage } = resource;
  const selects = name === "" ? labelSelectorMatcher(selector) : undefined;
  const stored = name === "" ? storage.list(paramNamespace) : [storage.get(paramNamespace, name) ?? []].flat();
  return andThen(presenterFor(resource, stored), (show) => {
    const objects = stored.map(show).filter(({ metadata }) => selects === undefined || selects(metadata.labels));
    if (objects.length === 0 && paramRef.parameterNotFoundAction === "Deny")
      return problem("no params found for policy binding with `Deny` parameterNotFoundAction");
    return { objects };
  });
}
