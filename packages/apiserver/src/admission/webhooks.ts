import { type KubernetesObject, apiVersionOf } from "@kubewright/api";
import { type Random, uuid } from "@kubewright/clock";

import { ApiError, badRequest, forbidden, internalError } from "../api-error.js";
import { jsonEqual } from "../json.js";
import type { Webhook } from "../kinds/admissionregistration/webhook-validation.js";
import { MAX_NESTING, isNestedDeeper } from "../nesting.js";
import { jsonPatch } from "../patch/json-patch.js";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.js";
import { decode, noFindings } from "../schema/decode.js";
import type { ServedResource } from "../served-resource.js";
import type { ResourceStorage } from "../storage/resource-storage.js";
import { convertForAdmission, buildRequestView } from "./admission-request.js";
import { InvalidResponse, type Verdict, readVerdict, refusal } from "./admission-response.js";
import { expressionVariables } from "./expression-variables.js";
import { AdmissionExpressions } from "./expressions.js";
import { MatchConditions } from "./match-conditions.js";
import { RequestMatcher, isExempt, isFullObject } from "./request-matcher.js";
import { webhookAddress } from "../webhooks/webhook-address.js";
import type { WebhookCaller } from "../webhooks/webhook-call.js";

/** A webhook with its compiled rules and match conditions. */
interface CompiledWebhook {
  /** Unique, unlike the webhook's name. */
  readonly id: string;
  /** Name of the configuration that contains the webhook. */
  readonly configuration: string;
  readonly webhook: Webhook;
  readonly matcher: RequestMatcher;
  readonly conditions: MatchConditions;
}

/** A webhook that matches the request, and the resource that the request matches as. */
interface Invocation extends CompiledWebhook {
  readonly matchedResource: ServedResource;
}

/** The call of a webhook failed; the webhook's failure policy decides. Upstream: `ErrCallingWebhook`. */
class WebhookCallError extends Error {
  constructor(webhook: string, why: string) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`);
  }
}

/** Storage of the configurations, and the function that calls webhooks. */
export interface WebhookOptions {
  readonly configurations: ResourceStorage;
  readonly call: WebhookCaller;
  readonly random: Random;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
}

/** Common part of both kinds of webhooks: finds and calls the matching webhooks. */
class Webhooks {
  readonly #options: WebhookOptions;
  readonly #compiler = new AdmissionExpressions();
  /** By stored configuration: stored objects never change. */
  readonly #compiled = new WeakMap<object, readonly CompiledWebhook[]>();

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#options.configurations.size === 0;
  }

  /** Yields all webhooks, by configuration name and then in the configuration's order. */
  *all(): Generator<CompiledWebhook> {
    for (const { object } of this.#options.configurations.list()) {
      let compiled = this.#compiled.get(object);
      if (compiled === undefined) this.#compiled.set(object, (compiled = this.#compileAll(object)));
      yield* compiled;
    }
  }

  #compileAll(configuration: KubernetesObject): readonly CompiledWebhook[] {
    const { metadata, webhooks = [] } = configuration as KubernetesObject & { webhooks?: readonly Webhook[] };
    const { name = "" } = metadata;
    return webhooks.map((webhook) => ({
      id: `${name}/${webhook.name}`,
      configuration: name,
      webhook,
      matcher: new RequestMatcher({ ...webhook, resourceRules: webhook.rules ?? [] }),
      conditions: new MatchConditions(
        webhook.matchConditions ?? [],
        this.#compiler,
        { authorizer: true },
        webhook.failurePolicy === "Ignore",
      ),
    }));
  }

  /**
   * Returns the invocation, or `undefined` when the webhook does not match the request.
   *
   * @throws ApiError 403 when a match condition fails to evaluate and the webhook fails closed; 404 when the namespace
   * does not exist.
   */
  async invocation(compiled: CompiledWebhook, attributes: AdmissionAttributes): Promise<Invocation | undefined> {
    const { webhook, matcher, conditions } = compiled;
    if ((webhook.rules ?? []).length === 0) return undefined;
    const matchedResource = matcher.match(attributes);
    if (matchedResource === undefined) return undefined;
    if (!conditions.isEmpty) {
      const matched = conditions.match(
        expressionVariables(attributes, await buildRequestView(attributes, matchedResource)),
      );
      if (typeof matched !== "boolean") throw forbidden(attributes.resource, attributes.name, matched.problem);
      if (!matched) return undefined;
    }
    return { ...compiled, matchedResource };
  }

  /**
   * Calls the webhook and returns its verdict. Returns `undefined` when the call fails and the failure policy is
   * `Ignore`; an audit annotation records this.
   *
   * @param round - As in upstream's audit annotations: `round_0_index_3`.
   * @throws ApiError 500 when the call fails and the webhook fails closed; the webhook's status when it denies the
   * request.
   */
  async invoke(
    invocation: Invocation,
    attributes: AdmissionAttributes,
    isMutating: boolean,
    round: string,
  ): Promise<Verdict | undefined> {
    const { webhook } = invocation;
    let verdict: Verdict;
    try {
      verdict = await this.#call(invocation, attributes, isMutating);
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error;
      if (webhook.failurePolicy !== "Ignore") throw internalError(error.message);
      const kind = isMutating ? "mutating" : "validating";
      attributes.annotate(`failed-open.${kind}.webhook.admission.k8s.io/${round}`, webhook.name);
      return undefined;
    }
    for (const [key, value] of Object.entries(verdict.annotations))
      attributes.annotate(`${webhook.name}/${key}`, value);
    for (const warning of verdict.warnings) attributes.warn(warning);
    if (!verdict.allowed) throw refusal(webhook.name, verdict.status);
    return verdict;
  }

  async #call(
    { webhook, matchedResource }: Invocation,
    attributes: AdmissionAttributes,
    isMutating: boolean,
  ): Promise<Verdict> {
    const { name, timeoutSeconds = 10, clientConfig, admissionReviewVersions, sideEffects } = webhook;
    if (attributes.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun")
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    const { call, random, signal } = this.#options;
    const { request, object, oldObject } = await buildRequestView(attributes, matchedResource);
    const uid = uuid(random);
    const version = admissionReviewVersions.find((each) => each === "v1" || each === "v1beta1");
    const apiVersion = `admission.k8s.io/${version}`;
    const body = { kind: "AdmissionReview", apiVersion, request: { uid, ...request, object, oldObject } };
    const { url, resolve } = webhookAddress(clientConfig, timeoutSeconds, attributes.server.registry);
    const { caBundle } = clientConfig;
    try {
      const address = resolve();
      const answer = await call({ url, address, caBundle, body, timeoutMs: timeoutSeconds * 1000, signal });
      return readVerdict(answer, apiVersion, uid, isMutating);
    } catch (error) {
      const why = (error as Error).message;
      throw new WebhookCallError(
        name,
        error instanceof InvalidResponse ? why : `failed to call webhook: Post ${JSON.stringify(url)}: ${why}`,
      );
    }
  }
}

function concerns(resource: ServedResource): boolean {
  return !isExempt(resource);
}

/**
 * Calls the webhooks of MutatingWebhookConfigurations one after the other. Calls a webhook again when it asks for
 * reinvocation and a later webhook has changed the object. Upstream: apiserver `pkg/admission/plugin/webhook/mutating`.
 */
export function mutatingWebhooks(options: WebhookOptions): AdmissionPlugin {
  const webhooks = new Webhooks(options);
  return {
    concerns,
    isIdle: () => webhooks.isEmpty,
    mutate: (attributes) => mutate(webhooks, attributes),
  };
}

async function mutate(webhooks: Webhooks, attributes: AdmissionAttributes): Promise<void> {
  /** Webhooks with `reinvocationPolicy: IfNeeded` called since the last change of the object. */
  let reinvocable = new Set<string>();
  const toReinvoke = new Set<string>();
  for (const [index, compiled] of [...webhooks.all()].entries()) {
    const changed = await invokeMutating(webhooks, compiled, attributes, `round_0_index_${index}`);
    if (changed === true) {
      for (const id of reinvocable) toReinvoke.add(id);
      reinvocable = new Set();
    }
    if (changed !== undefined && compiled.webhook.reinvocationPolicy === "IfNeeded") reinvocable.add(compiled.id);
  }
  if (toReinvoke.size === 0) return;
  for (const [index, compiled] of [...webhooks.all()].entries())
    if (toReinvoke.has(compiled.id)) await invokeMutating(webhooks, compiled, attributes, `round_1_index_${index}`);
}

/**
 * Returns whether the webhook changed the object, and records it as an audit annotation. Returns `undefined` when the
 * webhook does not match.
 */
async function invokeMutating(
  webhooks: Webhooks,
  compiled: CompiledWebhook,
  attributes: AdmissionAttributes,
  round: string,
): Promise<boolean | undefined> {
  const invocation = await webhooks.invocation(compiled, attributes);
  if (invocation === undefined) return undefined;
  const { configuration, webhook } = invocation;
  const annotate = (topic: string, more: object): void =>
    attributes.annotate(
      `${topic}.webhook.admission.k8s.io/${round}`,
      JSON.stringify({ configuration, webhook: webhook.name, ...more }),
    );
  let mutated = false;
  try {
    const verdict = await webhooks.invoke(invocation, attributes, true, round);
    const operations = verdict?.patch === undefined ? [] : readOperations(verdict.patch);
    if (operations.length === 0) return false;
    mutated = await applyPatch(invocation, operations, verdict!.patchType, attributes);
    annotate("patch", { patch: operations, patchType: verdict!.patchType });
    return mutated;
  } finally {
    annotate("mutation", { mutated });
  }
}

/** @throws ApiError 500 when the patch cannot be applied. */
async function applyPatch(
  { webhook, matchedResource }: Invocation,
  operations: readonly unknown[],
  patchType: string,
  attributes: AdmissionAttributes,
): Promise<boolean> {
  const { resource, object } = attributes;
  const name = JSON.stringify(webhook.name);
  if (object === undefined)
    throw internalError(
      `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
    );
  if (patchType !== "JSONPatch")
    throw internalError(`failed calling webhook ${name}: unsupported patch type ${JSON.stringify(patchType)}`);
  const isObject = isFullObject(attributes);
  const seen = isObject ? await convertForAdmission(object, resource, matchedResource) : object;
  let patched: KubernetesObject;
  try {
    patched = decodePatched(jsonPatch(seen, operations), attributes, matchedResource);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw internalError((error as Error).message);
  }
  if (jsonEqual(patched, seen)) return false;
  if (isObject) matchedResource.strategy.applyDefaults?.(patched);
  attributes.object = isObject ? await convertForAdmission(patched, matchedResource, resource) : patched;
  return true;
}

/** @throws DecodeError */
function decodePatched(
  patched: unknown,
  attributes: AdmissionAttributes,
  matchedResource: ServedResource,
): KubernetesObject {
  if (isFullObject(attributes)) return matchedResource.decode(patched, noFindings());
  const { kind, server } = attributes;
  const schema = server.schemas.ofKind(apiVersionOf(kind), kind.kind);
  const object = (schema === undefined ? patched : decode(schema, patched, noFindings())) as Partial<KubernetesObject>;
  return { ...object, metadata: object.metadata ?? {} };
}

/** @throws ApiError 500 */
function readOperations(text: string): readonly unknown[] {
  let operations: unknown;
  try {
    operations = JSON.parse(text);
  } catch (error) {
    throw internalError((error as Error).message);
  }
  if (Array.isArray(operations) && operations.length <= MAX_OPERATIONS && !isNestedDeeper(operations, MAX_NESTING + 2))
    return operations as unknown[];
  throw internalError(`a patch of a webhook is a list of at most ${MAX_OPERATIONS} operations`);
}

/** The same limit as for a client's JSON patch. */
const MAX_OPERATIONS = 10_000;

/**
 * Calls the webhooks of ValidatingWebhookConfigurations concurrently. For a deletion, calls the mutating webhooks
 * first; they cannot change the object.
 *
 * Upstream: apiserver `pkg/admission/plugin/webhook/validating`, which returns the denial that arrived first. Here the
 * denial of the first webhook is returned, so that equal runs give equal answers.
 */
export function validatingWebhooks(options: WebhookOptions, mutating: WebhookOptions): AdmissionPlugin {
  const webhooks = new Webhooks(options);
  const deletionWebhooks = new Webhooks(mutating);
  return {
    concerns,
    isIdle: () => webhooks.isEmpty && deletionWebhooks.isEmpty,
    validate: async (attributes) => {
      if (attributes.operation === "DELETE") await mutate(deletionWebhooks, attributes);
      const invocations: Invocation[] = [];
      for (const compiled of webhooks.all()) {
        const invocation = await webhooks.invocation(compiled, attributes);
        if (invocation !== undefined) invocations.push(invocation);
      }
      const answers = await Promise.allSettled(
        invocations.map((invocation, index) =>
          webhooks.invoke(invocation, attributes, false, `round_0_index_${index}`),
        ),
      );
      const refused = answers.find((answer) => answer.status === "rejected");
      if (refused !== undefined) throw refused.reason;
    },
  };
}
