import type {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@kubewright/api";

import { definitionOf } from "../custom-resource/definition.js";
import { checkWebhooks } from "./answer-call.js";
import type { ConversionWebhook } from "./conversion-webhook.js";
import type { Webhook } from "./webhook.js";

/** How the API server reaches webhooks: through a Service, or at a URL that their paths are appended to. */
export type WebhookPlace =
  | { readonly service: { readonly name: string; readonly namespace: string; readonly port?: number } }
  | { readonly url: string };

/** Objects that register webhooks with the API server. */
export interface WebhookConfigurations {
  readonly validating: ValidatingWebhookConfiguration | undefined;
  readonly mutating: MutatingWebhookConfiguration | undefined;
  /** CustomResourceDefinitions with a conversion webhook. */
  readonly definitions: readonly CustomResourceDefinition[];
}

export interface WebhookConfigurationOptions {
  /** Name of both configurations, which are cluster-scoped: the operator's name. */
  readonly name: string;
  readonly webhooks: readonly Webhook[];
  readonly place: WebhookPlace;
  /** Authorities of the serving certificate, in PEM. Default: none yet; `serveWebhooks` adds them. */
  readonly ca?: string | undefined;
}

/**
 * Creates the objects that register webhooks.
 *
 * @throws Error when two webhooks have the same name or path.
 */
export function webhookConfigurations({
  name,
  webhooks,
  place,
  ca,
}: WebhookConfigurationOptions): WebhookConfigurations {
  checkWebhooks(webhooks);
  const configure = (webhook: Webhook): ClientConfig => clientConfigOf(webhook, place, ca);
  const kindOf = (type: "validating" | "mutating"): readonly Webhook[] => webhooks.filter((each) => each.type === type);
  const [validating, mutating] = [kindOf("validating"), kindOf("mutating")];
  const metadata = { name };
  const apiVersion = "admissionregistration.k8s.io/v1";
  return {
    validating:
      validating.length === 0
        ? undefined
        : {
            apiVersion,
            kind: "ValidatingWebhookConfiguration",
            metadata,
            webhooks: validating.map((each) => entryOf(each, configure(each))),
          },
    mutating:
      mutating.length === 0
        ? undefined
        : {
            apiVersion,
            kind: "MutatingWebhookConfiguration",
            metadata,
            webhooks: mutating.map((each) => ({
              ...entryOf(each, configure(each)),
              reinvocationPolicy: each.admission?.reinvocationPolicy ?? "Never",
            })),
          },
    definitions: webhooks.filter(isConversion).map((each) =>
      definitionOf(each.definition, each.versions, {
        strategy: "Webhook",
        webhook: { clientConfig: configure(each), conversionReviewVersions: ["v1"] },
      }),
    ),
  };
}

export function isConversion(webhook: Webhook): webhook is ConversionWebhook {
  return webhook.type === "conversion";
}

interface ClientConfig {
  url?: string;
  service?: { name: string; namespace: string; path: string; port?: number };
  caBundle?: string;
}

function clientConfigOf({ path }: Webhook, place: WebhookPlace, ca: string | undefined): ClientConfig {
  const at =
    "url" in place ? { url: `${place.url.replace(/\/$/, "")}${path}` } : { service: { ...place.service, path } };
  return { ...at, ...(ca === undefined ? {} : { caBundle: btoa(ca) }) };
}

type Entry = NonNullable<ValidatingWebhookConfiguration["webhooks"]>[number];

function entryOf({ name, definition, admission = {} }: Webhook, clientConfig: ClientConfig): Entry {
  const { group, version, resource, namespaced } = definition;
  const {
    operations = ["CREATE", "UPDATE"],
    subresource,
    namespaceSelector,
    objectSelector,
    matchConditions,
  } = admission;
  return {
    name,
    clientConfig,
    rules: [
      {
        apiGroups: [group],
        apiVersions: [version],
        operations: [...operations],
        resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
        scope: namespaced ? "Namespaced" : "Cluster",
      },
    ],
    admissionReviewVersions: ["v1"],
    failurePolicy: admission.failurePolicy ?? "Fail",
    sideEffects: admission.sideEffects ?? "None",
    timeoutSeconds: admission.timeoutSeconds ?? 10,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(matchConditions === undefined ? {} : { matchConditions: matchConditions.map((each) => ({ ...each })) }),
  };
}
