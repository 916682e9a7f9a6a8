import {
  type KubernetesObject,
  type MutatingWebhookConfiguration,
  type ResourceDefinition,
  type ValidatingWebhookConfiguration,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "@kubewright/api";

import { type BuiltInResource, builtInResource } from "../../built-in-resource.js";
import type { ResourceStrategy } from "../../strategy.js";
import { generationOf } from "../spec-and-status.js";
import { ageCell, table } from "../table-cells.js";
import { applyRuleDefaults } from "./rule-validation.js";
import { admissionRegistrationTypes } from "./types.js";
import { type Webhook, validateWebhooks } from "./webhook-validation.js";

interface WebhookConfiguration extends KubernetesObject {
  webhooks?: Webhook[];
}

/** Upstream: `pkg/registry/admissionregistration/{mutating,validating}webhookconfiguration`. */
function strategyOf(isMutating: boolean): ResourceStrategy<WebhookConfiguration> {
  return {
    applyDefaults({ webhooks }, stored) {
      if (webhooks === stored?.webhooks) return;
      for (const webhook of webhooks ?? []) applyWebhookDefaults(webhook, isMutating);
    },
    ...generationOf<WebhookConfiguration>("webhooks"),
    validate: ({ webhooks }, errors) => validateWebhooks(webhooks ?? [], errors),
    allowUnconditionalUpdate: false,
    printer: table<WebhookConfiguration>({ "Webhooks:integer": ({ webhooks = [] }) => webhooks.length, Age: ageCell }),
  };
}

function applyWebhookDefaults(webhook: Webhook, isMutating: boolean): void {
  webhook.failurePolicy ??= "Fail";
  webhook.matchPolicy ??= "Equivalent";
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  if (isMutating) webhook.reinvocationPolicy ??= "Never";
  applyRuleDefaults(webhook.rules);
  const { service } = webhook.clientConfig ?? {};
  if (service !== undefined) service.port ??= 443;
}

export const mutatingWebhookConfigurationResource = webhookConfigurationResource<MutatingWebhookConfiguration>(
  mutatingWebhookConfigurations,
  true,
);

export const validatingWebhookConfigurationResource = webhookConfigurationResource<ValidatingWebhookConfiguration>(
  validatingWebhookConfigurations,
  false,
);

function webhookConfigurationResource<T extends KubernetesObject>(
  definition: ResourceDefinition<T>,
  isMutating: boolean,
): BuiltInResource {
  return builtInResource<WebhookConfiguration>({
    definition,
    singular: definition.kind.toLowerCase(),
    categories: ["api-extensions"],
    listKind: `${definition.kind}List`,
    types: admissionRegistrationTypes,
    strategy: strategyOf(isMutating),
  });
}
