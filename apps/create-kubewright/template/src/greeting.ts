import { type ObjectOf, defineCustomResource } from "@kubewright/operator";
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
    conditions: z.array(
      z.object({
        type: z.string(),
        status: z.enum(["True", "False", "Unknown"]),
        reason: z.string(),
        message: z.string(),
        lastTransitionTime: z.string(),
        observedGeneration: z.int().optional(),
      }),
    ),
  }),
});
export type Greeting = ObjectOf<typeof greetings>;
