import { configMaps } from "@kubewright/api";
import { createOperator, ownerReference, setCondition } from "@kubewright/operator";

import { greetings } from "./greeting.ts";

export const operator = createOperator({ name: "my-operator" });

operator
  .controllerFor(greetings)
  .owns(configMaps)
  .reconcile(async ({ object, name, namespace, client, now }) => {
    await client.apply(configMaps, {
      metadata: { name, namespace, ownerReferences: [ownerReference(greetings, object)] },
      data: { text: `Hello ${object.spec.to}` },
    });
    const conditions = setCondition(object, { type: "Ready", status: "True", reason: "Written" }, now);
    await client.patchStatus(greetings, object, { conditions });
  });
