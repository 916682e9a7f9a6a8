import {
  type CustomResourceDefinition,
  type KubernetesObject,
  type ResourceDefinition,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import type { Client } from "@kubewright/client";

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
  const apply = async (definition: ResourceDefinition<KubernetesObject>, object: KubernetesObject): Promise<void> => {
    const body = { ...object };
    await client
      .resource(definition)
      .patch(object.metadata.name!, { type: "apply", body }, { fieldManager: `${name}-webhooks`, force: true });
  };
  // Who is asked first must be found first.
  for (const definition of definitions) await apply(customResourceDefinitions, conversionOnly(definition));
  if (mutating !== undefined) await apply(mutatingWebhookConfigurations, mutating);
  if (validating !== undefined) await apply(validatingWebhookConfigurations, validating);
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
