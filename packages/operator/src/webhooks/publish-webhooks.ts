import {
  type CustomResourceDefinition,
  type KubernetesObject,
  type ResourceDefinition,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import { type Client, isInvalid } from "@kubewright/client";

import { type WebhookPlace, webhookConfigurations } from "./configurations.js";
import type { Webhook } from "./webhook.js";

export interface PublishOptions {
  readonly client: Pick<Client, "resource">;
  /** Name of the configurations, and prefix of the field manager. */
  readonly name: string;
  readonly webhooks: readonly Webhook[];
  readonly place: WebhookPlace;
  /** In PEM. */
  readonly ca: string;
}

/**
 * Publishes the authorities of the webhooks' certificate to the API server by server-side apply. They are set in the
 * webhook configurations, and in the conversion of the CustomResourceDefinitions. Existing objects do not change
 * otherwise. Missing configurations are created, and a conversion without webhook is completed.
 *
 * @throws StatusError when the API server refuses a write.
 */
export async function publishWebhooks({ client, name, ca, webhooks, place }: PublishOptions): Promise<void> {
  const { validating, mutating, definitions } = webhookConfigurations({ name, webhooks, place, ca });
  const apply = async (definition: ResourceDefinition<KubernetesObject>, object: KubernetesObject): Promise<void> => {
    const body = { ...object };
    await client
      .resource(definition)
      .patch(object.metadata.name!, { type: "apply", body }, { fieldManager: `${name}-webhooks`, force: true });
  };
  const publish = async (
    definition: ResourceDefinition<KubernetesObject>,
    { authority, whole }: Parts,
  ): Promise<void> => {
    try {
      await apply(definition, authority);
    } catch (error) {
      // An authority alone is invalid without an existing configuration.
      if (!isInvalid(error)) throw error;
      await apply(definition, whole);
    }
  };
  // The API server calls conversion before mutating, and mutating before validating webhooks.
  for (const definition of definitions) await publish(customResourceDefinitions, conversionParts(definition));
  if (mutating !== undefined) await publish(mutatingWebhookConfigurations, configurationParts(mutating));
  if (validating !== undefined) await publish(validatingWebhookConfigurations, configurationParts(validating));
}

/** What is applied to an existing object, and to a missing one. */
interface Parts {
  readonly authority: KubernetesObject;
  readonly whole: KubernetesObject;
}

interface Configuration extends KubernetesObject {
  webhooks?: { name: string; clientConfig: { caBundle?: string } }[];
}

function configurationParts(whole: Configuration): Parts {
  const { webhooks = [], ...rest } = whole;
  const onlyAuthority = webhooks.map(({ name, clientConfig: { caBundle } }) => ({ name, clientConfig: { caBundle } }));
  return { whole, authority: { ...rest, webhooks: onlyAuthority } as KubernetesObject };
}

/** The rest of the definition belongs to its installer. */
function conversionParts({
  apiVersion,
  kind,
  metadata: { name },
  spec: { conversion },
}: CustomResourceDefinition): Parts {
  const part = (clause: unknown): KubernetesObject =>
    ({ apiVersion, kind, metadata: { name }, spec: { conversion: clause } }) as KubernetesObject;
  const caBundle = conversion?.webhook?.clientConfig?.caBundle;
  return { whole: part(conversion), authority: part({ webhook: { clientConfig: { caBundle } } }) };
}
