import { configMaps } from "@kubewright/api";
import { createOperator, defineCustomResource, defineVersion, type ObjectOf } from "@kubewright/operator";
import { conversionWebhook, deny, mutatingWebhook, validatingWebhook } from "@kubewright/operator/webhooks";
import { z } from "zod";

export const copies = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Copy",
  plural: "copies",
  scope: "Namespaced",
  spec: z.object({ volume: z.string(), keep: z.int().default(3), owner: z.string().optional() }),
});
export type Copy = ObjectOf<typeof copies>;

export const oldCopies = defineVersion(copies, {
  version: "v1alpha1",
  spec: z.object({ claim: z.string() }),
  toStored: ({ spec }) => ({ spec: { volume: spec.claim, keep: 3 } }),
  fromStored: ({ spec }) => ({ spec: { claim: spec.volume } }),
});

/** An operator with a webhook of each kind. Its controller writes a ConfigMap for each Copy. */
export const operator = createOperator({
  name: "copy-operator",
  leaderElection: false,
  webhooks: [
    validatingWebhook(copies, ({ object }) => (object.spec.volume === "tmp" ? deny("tmp is not copied") : undefined)),
    mutatingWebhook(copies, ({ object }) => void (object.spec.owner ??= "nobody")),
    conversionWebhook(copies, [oldCopies]),
  ],
});
operator.controllerFor(copies).reconcile(async ({ client, object: { metadata, spec } }) => {
  await client.apply(configMaps, {
    metadata: { name: metadata.name!, namespace: metadata.namespace! },
    data: { owner: spec.owner ?? "" },
  });
});
