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
  /** Of the configurations, and the field manager. */
  readonly name: string;
  readonly webhooks: readonly Webhook[];
  readonly place: WebhookPlace;
  /** PEM. */
  readonly ca: string;
}

/**
 * Tells the API server of the authorities that webhooks' certificate is of, by server-side apply: in their configurations, and in the
 * conversion clause of the CustomResourceDefinitions that they convert. Of those that are there nothing else changes; those that are
 * not are made, and a conversion clause that names no webhook is written.
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
  const publish = async (
    definition: ResourceDefinition<KubernetesObject>,
    { authority, whole }: Parts,
  ): Promise<void> => {
    try {
      await apply(definition, authority);
    } catch (error) {
      // With nothing to add it to, an authority alone is no configuration.
      if (!isInvalid(error)) throw error;
      await apply(definition, whole);
    }
  };
  // Who is asked first must be found first.
  for (const definition of definitions) await publish(customResourceDefinitions, conversionParts(definition));
  if (mutating !== undefined) await publish(mutatingWebhookConfigurations, configurationParts(mutating));
  if (validating !== undefined) await publish(validatingWebhookConfigurations, configurationParts(validating));
}

/** What is applied where there is something, and where there is nothing. */
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

/** The definition itself is whoever's who installed it. */
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
