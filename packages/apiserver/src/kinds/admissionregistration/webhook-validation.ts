import type { LabelSelector } from "@kubewright/api";
import { dns1035LabelErrors, dnsSubdomainErrors } from "@kubewright/api/validation";

import { AdmissionExpressions } from "../../admission/expressions.js";
import type { FieldErrors } from "../../field-errors.js";
import { validateLabelSelector } from "../../validation/label-selector.js";
import { addInvalid, validateSupported, validateUnique } from "../../validation/rules.js";
import { type WebhookClientConfig, validateClientConfig } from "../../validation/webhook-client-config.js";
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

/** The supported versions of AdmissionReview. */
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun"];
const REINVOCATION_POLICIES = ["IfNeeded", "Never"];
const MAX_TIMEOUT_SECONDS = 30;

/** Upstream: `validateMutatingWebhookConfiguration`, `validateValidatingWebhookConfiguration`. */
export function validateWebhooks(webhooks: readonly Webhook[], errors: FieldErrors): void {
  const compiler = new AdmissionExpressions();
  const names = new Set<string>();
  for (const [index, webhook] of webhooks.entries()) {
    const path = `webhooks[${index}]`;
    validateWebhook(webhook, path, compiler, errors);
    validateReviewVersions(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`, errors);
    if (webhook.name) validateUnique(webhook.name, names, `${path}.name`, errors);
  }
}

function validateWebhook(webhook: Webhook, path: string, compiler: AdmissionExpressions, errors: FieldErrors): void {
  const { timeoutSeconds } = webhook;
  validateFullyQualifiedName(webhook.name ?? "", `${path}.name`, errors);
  for (const [index, rule] of (webhook.rules ?? []).entries()) validateRule(rule, `${path}.rules[${index}]`, errors);
  validateSupported(webhook.failurePolicy, FAILURE_POLICIES, `${path}.failurePolicy`, errors);
  validateSupported(webhook.matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`, errors);
  // A client may omit the field, although its type is required.
  const sideEffects = webhook.sideEffects as string | null | undefined;
  if (sideEffects === undefined || sideEffects === null)
    errors.required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(", ")}`);
  else validateSupported(sideEffects, SIDE_EFFECTS, `${path}.sideEffects`, errors);
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS))
    errors.invalid(
      `${path}.timeoutSeconds`,
      timeoutSeconds,
      `the timeout value must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`,
    );
  validateLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`, errors);
  validateLabelSelector(webhook.objectSelector, `${path}.objectSelector`, errors);
  validateSupported(webhook.reinvocationPolicy, REINVOCATION_POLICIES, `${path}.reinvocationPolicy`, errors);
  validateClientConfig(webhook.clientConfig ?? {}, `${path}.clientConfig`, errors);
  const conditions = webhook.matchConditions ?? [];
  validateMatchConditions(conditions, `${path}.matchConditions`, compiler, { authorizer: true }, errors);
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
