import {
  type CustomResourceDefinition,
  type KubernetesObject,
  type ResourceDefinition,
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "@kubewright/api";
import { type Client, type Patch, isInvalid, isNotFound } from "@kubewright/client";

import { type WebhookPlace, webhookConfigurations } from "./configurations.js";
import type { Webhook } from "./webhook.js";

export interface PublishOptions {
  readonly client: Pick<Client, "resource">;
  /** Name of the configurations, and prefix of the field manager. */
  readonly name: string;
  readonly webhooks: readonly Webhook[];
  readonly place: WebhookPlace;
  /** In PEM. Default: none, for webhooks in the API server's process. */
  readonly ca?: string | undefined;
}

/**
 * Publishes the webhooks to the API server, in the webhook configurations and in the conversion of the
 * CustomResourceDefinitions. Missing configurations are created, and a conversion without webhook is completed.
 *
 * Existing objects belong to their installer. At a service only the authorities of the certificate change, by
 * server-side apply. At a URL the whole address changes, as the caller serves elsewhere than the installer expected.
 *
 * @throws StatusError when the API server refuses a write.
 */
export async function publishWebhooks({ client, name, ca, webhooks, place }: PublishOptions): Promise<void> {
  const { validating, mutating, definitions } = webhookConfigurations({ name, webhooks, place, ca });
  const fieldManager = `${name}-webhooks`;
  const publish = async (
    definition: ResourceDefinition<KubernetesObject>,
    { name: object, changes, whole }: Publication,
  ): Promise<void> => {
    const resource = client.resource(definition);
    const send = (patch: Patch): Promise<unknown> =>
      resource.patch(object, patch, { fieldManager, ...(patch.type === "apply" ? { force: true } : {}) });
    for (const [index, change] of changes.entries()) {
      try {
        await send(change);
        return;
      } catch (error) {
        if (isNotFound(error) && whole !== undefined) break;
        // A part alone is invalid without an existing webhook.
        if (!isInvalid(error) || (index === changes.length - 1 && whole === undefined)) throw error;
      }
    }
    await send(applied(whole!));
  };
  const ofConfiguration = "url" in place ? addressOfWebhooks : authorityOfWebhooks;
  // The API server calls conversion before mutating, and mutating before validating webhooks.
  for (const definition of definitions)
    await publish(
      customResourceDefinitions,
      "url" in place ? addressOfConversion(definition) : authorityOfConversion(definition),
    );
  if (mutating !== undefined) await publish(mutatingWebhookConfigurations, ofConfiguration(mutating));
  if (validating !== undefined) await publish(validatingWebhookConfigurations, ofConfiguration(validating));
}

/** The writes that publish webhooks in one object. */
interface Publication {
  readonly name: string;
  /** Changes of an existing object. The next one is sent when the API server finds one invalid. */
  readonly changes: readonly Patch[];
  /** Applied to a missing object, or when every change is invalid. Absent: the object must exist. */
  readonly whole?: KubernetesObject;
}

interface ClientConfig {
  readonly url?: string;
  readonly caBundle?: string;
}

interface Configuration extends KubernetesObject {
  webhooks?: { name: string; clientConfig: ClientConfig }[];
}

/** Server-side apply of the authorities alone. */
function authorityOfWebhooks(whole: Configuration): Publication {
  const { webhooks = [], ...rest } = whole;
  const onlyAuthority = webhooks.map(({ name, clientConfig: { caBundle } }) => ({ name, clientConfig: { caBundle } }));
  return {
    name: whole.metadata.name!,
    changes: [applied({ ...rest, webhooks: onlyAuthority } as KubernetesObject)],
    whole,
  };
}

/**
 * Strategic merge patches of the addresses: first alone, then with all fields of webhooks that are missing. Server-side
 * apply cannot remove the service, which another manager owns.
 */
function addressOfWebhooks(whole: Configuration): Publication {
  const { webhooks = [] } = whole;
  const merged = (list: readonly object[]): Patch => {
    const body: object = { webhooks: list };
    return { type: "strategic", body };
  };
  const addresses = webhooks.map(({ name, clientConfig }) => ({ name, clientConfig: onlyAt(clientConfig) }));
  const all = webhooks.map((webhook) => ({ ...webhook, clientConfig: onlyAt(webhook.clientConfig) }));
  return { name: whole.metadata.name!, changes: [merged(addresses), merged(all)], whole };
}

/** Server-side apply of the authorities alone, then of the conversion. The rest belongs to the installer. */
function authorityOfConversion({ apiVersion, kind, metadata, spec }: CustomResourceDefinition): Publication {
  const { name = "" } = metadata;
  const conversion = (clause: unknown): Patch =>
    applied({ apiVersion, kind, metadata: { name }, spec: { conversion: clause } } as KubernetesObject);
  const caBundle = spec.conversion?.webhook?.clientConfig?.caBundle;
  return { name, changes: [conversion({ webhook: { clientConfig: { caBundle } } }), conversion(spec.conversion)] };
}

/** A merge patch of the conversion. */
function addressOfConversion({ metadata: { name = "" }, spec: { conversion } }: CustomResourceDefinition): Publication {
  const webhook = { ...conversion?.webhook, clientConfig: onlyAt(conversion?.webhook?.clientConfig ?? {}) };
  const body: object = { spec: { conversion: { strategy: "Webhook", webhook } } };
  return { name, changes: [{ type: "merge", body }] };
}

/** An address that replaces any other when it is merged. */
function onlyAt({ url, caBundle }: ClientConfig): object {
  return { url, service: null, caBundle: caBundle ?? null };
}

function applied(object: KubernetesObject): Patch {
  return { type: "apply", body: { ...object } };
}
