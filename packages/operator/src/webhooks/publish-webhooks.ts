import {
  type CustomResourceDefinition,
  type KubernetesObject,
  type MutatingWebhookConfiguration,
  type ResourceDefinition,
  type ValidatingWebhookConfiguration,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import type { ApplyPatch, Client } from "@kubewright/client";

import { type WebhookPlace, webhookConfigurations } from "./configurations.js";
import type { Webhook } from "./webhook.js";

export interface PublishOptions {
  readonly client: Pick<Client, "resource">;
  /** Of the configurations, and the field manager. */
  readonly name: string;
  readonly webhooks: readonly Webhook[];
  readonly place: WebhookPlace;
  /** PEM. */
  readonly ca: string;
}

/**
 * Tells the API server of webhooks and of the authorities that their certificate is of: applies (server-side) their configurations,
 * and the conversion clause of the CustomResourceDefinitions that they convert. What others have set there stays.
 *
 * @throws StatusError when it is refused.
 */
export async function publishWebhooks({ client, name, ca, webhooks, place }: PublishOptions): Promise<void> {
  const { validating, mutating, definitions } = webhookConfigurations({ name, webhooks, place, ca });
  const apply = async <T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    object: KubernetesObject,
  ): Promise<void> => {
    // What it is of, its own definition says; the rest is of the type that was made above.
    const body = { ...object } as unknown as ApplyPatch<T>;
    await client
      .resource(definition)
      .patch(object.metadata.name!, { type: "apply", body }, { fieldManager: `${name}-webhooks`, force: true });
  };
  // Who is asked first must be found first.
  for (const definition of definitions)
    await apply<CustomResourceDefinition>(customResourceDefinitions, conversionOnly(definition));
  if (mutating !== undefined) await apply<MutatingWebhookConfiguration>(mutatingWebhookConfigurations, mutating);
  if (validating !== undefined)
    await apply<ValidatingWebhookConfiguration>(validatingWebhookConfigurations, validating);
}

/** The definition itself is whoever's who installed it. */
function conversionOnly({
  apiVersion,
  kind,
  metadata,
  spec,
}: CustomResourceDefinition): KubernetesObject & { spec: object } {
  return {
    apiVersion: apiVersion!,
    kind: kind!,
    metadata: { name: metadata.name! },
    spec: { conversion: spec.conversion },
  };
}
