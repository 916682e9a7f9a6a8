import type { LabelSelector } from "@kubewright/api";
import { dns1035LabelErrors, dnsSubdomainErrors, portNumberErrors } from "@kubewright/api/validation";

import { AdmissionExpressions } from "../../admission/expressions.js";
import type { FieldErrors } from "../../field-errors.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid } from "../../validation/rules.js";
import { type MatchCondition, validateMatchConditions } from "./match-conditions.js";
import { FAILURE_POLICIES, MATCH_POLICIES, type OperationRule, validateRule } from "./rule-validation.js";

/** A mutating or validating webhook. */
export interface Webhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: OperationRule[];
  failurePolicy?: string;
  matchPolicy?: string;
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  sideEffects: string;
  timeoutSeconds?: number;
  admissionReviewVersions: string[];
  matchConditions?: MatchCondition[];
  /** Only mutating webhooks have this field. */
  reinvocationPolicy?: string;
}

/** The address of a webhook. */
export interface WebhookClientConfig {
  url?: string;
  service?: { name: string; namespace: string; path?: string; port?: number };
  /** PEM certificates in base64. */
  caBundle?: string;
}

/** The supported versions of AdmissionReview. */
export const REVIEW_VERSIONS = ["v1", "v1beta1"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun"];
const REINVOCATION_POLICIES = ["IfNeeded", "Never"];
const MAX_TIMEOUT_SECONDS = 30;
const URL_FORM = "; desired format: https://host[/path]";

/** Upstream: `validateMutatingWebhookConfiguration`, `validateValidatingWebhookConfiguration`. */
export function validateWebhooks(webhooks: readonly Webhook[], errors: FieldErrors): void {
  const compiler = new AdmissionExpressions();
  const names = new Set<string>();
  for (const [index, webhook] of webhooks.entries()) {
    const path = `webhooks[${index}]`;
    validateWebhook(webhook, path, compiler, errors);
    validateReviewVersions(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`, errors);
    if (!webhook.name) continue;
    if (names.has(webhook.name)) errors.duplicate(`${path}.name`, webhook.name);
    names.add(webhook.name);
  }
}

function validateWebhook(webhook: Webhook, path: string, compiler: AdmissionExpressions, errors: FieldErrors): void {
  const { timeoutSeconds } = webhook;
  validateFullyQualifiedName(webhook.name ?? "", `${path}.name`, errors);
  for (const [index, rule] of (webhook.rules ?? []).entries()) validateRule(rule, `${path}.rules[${index}]`, errors);
  validateOneOf(webhook.failurePolicy, `${path}.failurePolicy`, FAILURE_POLICIES, errors);
  validateOneOf(webhook.matchPolicy, `${path}.matchPolicy`, MATCH_POLICIES, errors);
  // A client may omit the field, although its type is required.
  const sideEffects = webhook.sideEffects as string | null | undefined;
  if (sideEffects === undefined || sideEffects === null)
    errors.required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(", ")}`);
  else validateOneOf(sideEffects, `${path}.sideEffects`, SIDE_EFFECTS, errors);
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS))
    errors.invalid(
      `${path}.timeoutSeconds`,
      timeoutSeconds,
      `the timeout value must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`,
    );
  validateLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`, errors);
  validateLabelSelector(webhook.objectSelector, `${path}.objectSelector`, errors);
  validateOneOf(webhook.reinvocationPolicy, `${path}.reinvocationPolicy`, REINVOCATION_POLICIES, errors);
  validateClientConfig(webhook.clientConfig ?? {}, `${path}.clientConfig`, errors);
  const conditions = webhook.matchConditions ?? [];
  validateMatchConditions(conditions, `${path}.matchConditions`, compiler, { authorizer: true }, errors);
}

function validateOneOf(
  value: string | undefined,
  path: string,
  supported: readonly string[],
  errors: FieldErrors,
): void {
  if (value !== undefined && !supported.includes(value)) errors.notSupported(path, value, supported);
}

/** Upstream: `IsFullyQualifiedName`. */
function validateFullyQualifiedName(name: string, path: string, errors: FieldErrors): void {
  const sentences = dnsSubdomainErrors(name);
  if (name === "") errors.required(path);
  else if (sentences.length > 0) errors.invalid(path, name, sentences.join(","));
  else if (name.split(".").length < 3)
    errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
}

/** Upstream: `validateAdmissionReviewVersions`. */
function validateReviewVersions(versions: readonly string[], path: string, errors: FieldErrors): void {
  if (versions.length === 0) {
    errors.required(path, `must specify one of ${REVIEW_VERSIONS.join(", ")}`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.invalid(`${path}[${index}]`, version, "duplicate version");
    else addInvalid(errors, `${path}[${index}]`, version, dns1035LabelErrors(version));
    seen.add(version);
  }
  if (!REVIEW_VERSIONS.some((version) => seen.has(version)))
    errors.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`);
}

function validateClientConfig({ url, service }: WebhookClientConfig, path: string, errors: FieldErrors): void {
  if (url !== undefined && service === undefined) validateUrl(url, `${path}.url`, errors);
  else if (url === undefined && service !== undefined) validateService(service, `${path}.service`, errors);
  else errors.required(path, "exactly one of url or service is required");
}

/** Validates a URL, split into parts as Go does. Upstream: apiserver `pkg/util/webhook` ValidateWebhookURL. */
function validateUrl(url: string, path: string, errors: FieldErrors): void {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(url);
  const [, scheme = "", authority = "", , query = "", fragment = ""] = parts ?? [];
  const problem = urlProblem(url, scheme);
  if (problem !== undefined) {
    errors.required(path, `url must be a valid URL: parse ${JSON.stringify(url)}: ${problem}${URL_FORM}`);
    return;
  }
  const at = authority.lastIndexOf("@");
  if (scheme.toLowerCase() !== "https")
    errors.invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORM}`);
  const host = authority.slice(at + 1);
  if (host === "") errors.invalid(path, host, `host must be specified${URL_FORM}`);
  if (at >= 0) errors.invalid(path, authority.slice(0, at), "user information is not permitted in the URL");
  if (fragment !== "") errors.invalid(path, decodeURIComponent(fragment), "fragments are not permitted in the URL");
  if (query !== "") errors.invalid(path, query, "query parameters are not permitted in the URL");
}

/** Returns the error of Go's `url.Parse`; `undefined` when the URL is valid. */
function urlProblem(url: string, scheme: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- those are what it refuses
  if (/[\u0000-\u001f\u007f]/.test(url)) return "net/url: invalid control character in URL";
  if (url.startsWith(":")) return "missing protocol scheme";
  const escape = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(url)?.[0];
  if (escape !== undefined) return `invalid URL escape ${JSON.stringify(escape)}`;
  if (scheme === "" && /^[^/?#]*:/.test(url)) return "first path segment in URL cannot contain colon";
  const port = /^[^:]+:\/\/(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*)(:[^/?#]*)/.exec(url)?.[1];
  if (port !== undefined && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  return undefined;
}

/** Upstream: `ValidateWebhookService`. */
function validateService(
  { name, namespace, port, path: urlPath }: NonNullable<WebhookClientConfig["service"]>,
  path: string,
  errors: FieldErrors,
): void {
  if (!name) errors.required(`${path}.name`);
  if (!namespace) errors.required(`${path}.namespace`);
  if (port !== undefined)
    addInvalid(
      errors,
      `${path}.port`,
      port,
      portNumberErrors(port).map((sentence) => `port is not valid: ${sentence}`),
    );
  if (urlPath === undefined || urlPath === "" || urlPath === "/") return;
  const problem = (detail: string): void => errors.invalid(`${path}.path`, urlPath, detail);
  if (urlPath === "//") {
    problem("segment[0] may not be empty");
    return;
  }
  if (!urlPath.startsWith("/")) problem("must start with a '/'");
  const segments = urlPath.slice(1).replace(/\/$/, "").split("/");
  for (const [index, segment] of segments.entries()) {
    if (segment === "") problem(`segment[${index}] may not be empty`);
    else for (const sentence of dnsSubdomainErrors(segment)) problem(`segment[${index}]: ${sentence}`);
  }
}
