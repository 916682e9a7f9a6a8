import { type ObjectOf, defineCustomResource } from "@kubewright/operator";
import { conditions } from "@kubewright/operator/zod";
import { z } from "zod";

/** The custom resource: its type, what clients take, and, by `npm run manifests`, its CustomResourceDefinition. */
export const greetings = defineCustomResource({
  group: "example.com",
  version: "v1",
  kind: "Greeting",
  scope: "Namespaced",
  spec: z.object({
    to: z.string().min(1).describe("Whom to greet."),
  }),
  status: z.object({
    conditions: conditions(),
  }),
});
export type Greeting = ObjectOf<typeof greetings>;
