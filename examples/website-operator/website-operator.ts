import { configMaps } from "@kubewright/api";
import { createOperator, generationChanged, ownerReference } from "@kubewright/operator";

import { webhooks, websites } from "./website.ts";

/** Keeps the text of every Website in a ConfigMap, with one key for each host. */
export const websiteOperator = createOperator({
  name: "website-operator",
  webhooks,
});

websiteOperator
  .controllerFor(websites, { predicate: generationChanged })
  .owns(configMaps)
  .reconcile(async ({ object, name, namespace, client }) => {
    const { hosts, text = "" } = object.spec;
    await client.apply(configMaps, {
      metadata: {
        name,
        namespace,
        ownerReferences: [ownerReference(websites, object)],
      },
      data: Object.fromEntries(hosts.map((host) => [host, text])),
    });
    await client.patchStatus(websites, object, { mainHost: hosts[0]! });
  });
