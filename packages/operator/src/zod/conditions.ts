import { z } from "zod";

const condition = z
  .object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      )
      .describe("Type of the condition, in CamelCase or as foo.example.com/CamelCase."),
    status: z.enum(["True", "False", "Unknown"]).describe("Status of the condition."),
    observedGeneration: z
      .int()
      .min(0)
      .meta({ format: "int64", description: "The metadata.generation that the condition was computed for." })
      .optional(),
    lastTransitionTime: z.string().meta({ format: "date-time", description: "Time of the last change of the status." }),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe("Reason of the last change of the status, in CamelCase."),
    message: z.string().max(32_768).describe("Explanation for people. May be empty."),
  })
  .describe("One aspect of the current state of the object.");

/** Schema of `status.conditions`. */
export type ConditionsSchema = z.ZodOptional<z.ZodArray<typeof condition>>;

/**
 * Returns the schema of `status.conditions`: optional, and a list with one condition for each type. Field managers that
 * apply different types do not conflict.
 *
 * @see apimachinery metav1.Condition, as controller-gen writes it
 */
export function conditions(): ConditionsSchema {
  return z
    .array(condition)
    .meta({
      description: "Conditions of the object.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    })
    .optional();
}
