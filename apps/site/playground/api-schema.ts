import { createApiServer } from "@kubewright/apiserver";
import { SimulatedClock, seededRandom } from "@kubewright/clock";

import type { JsonSchema } from "./page/editor/json-schema.ts";

/** Kinds in manifests of the playground, and the OpenAPI document of each. */
const KINDS: readonly (readonly [apiVersion: string, kind: string, path: string])[] = [
  ["batch/v1", "CronJob", "apis/batch/v1"],
  ["batch/v1", "Job", "apis/batch/v1"],
  ["v1", "Pod", "api/v1"],
  ["v1", "ResourceQuota", "api/v1"],
  ["v1", "LimitRange", "api/v1"],
];

/** Fields that users do not write. */
const EXCLUDED_FIELDS = new Set([
  "status",
  "managedFields",
  "selfLink",
  "creationTimestamp",
  "deletionTimestamp",
  "uid",
]);

/**
 * Valid values that OpenAPI does not contain. Upstream: the `enum` markers of `k8s.io/api`, which its OpenAPI documents
 * also omit by default.
 */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "CronJobSpec.concurrencyPolicy": ["Allow", "Forbid", "Replace"],
  "JobSpec.completionMode": ["NonIndexed", "Indexed"],
  "JobSpec.podReplacementPolicy": ["TerminatingOrFailed", "Failed"],
  "PodFailurePolicyRule.action": ["FailJob", "FailIndex", "Ignore", "Count"],
  "PodFailurePolicyOnExitCodesRequirement.operator": ["In", "NotIn"],
  "PodFailurePolicyOnPodConditionsPattern.status": ["True", "False", "Unknown"],
  "PodSpec.restartPolicy": ["Never", "OnFailure", "Always"],
  "PodSpec.dnsPolicy": ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"],
  "PodSpec.preemptionPolicy": ["PreemptLowerPriority", "Never"],
  "Container.imagePullPolicy": ["Always", "IfNotPresent", "Never"],
  "Container.terminationMessagePolicy": ["File", "FallbackToLogsOnError"],
  "Toleration.effect": ["NoSchedule", "PreferNoSchedule", "NoExecute"],
  "Toleration.operator": ["Exists", "Equal"],
};

export interface ApiSchema {
  /** Schemas by `apiVersion/kind`. */
  readonly kinds: Readonly<Record<string, JsonSchema>>;
  readonly $defs: Readonly<Record<string, JsonSchema>>;
}

/** Returns the schemas and descriptions of these kinds from the embedded API server. */
export async function apiSchema(): Promise<ApiSchema> {
  const server = createApiServer({ clock: new SimulatedClock("2026-01-01T00:00:00Z"), random: seededRandom(1) });
  const kinds: Record<string, JsonSchema> = {};
  const $defs: Record<string, JsonSchema> = {};
  for (const [apiVersion, kind, path] of KINDS) {
    const schemas = await schemasOf(server, path);
    const [name] = Object.entries(schemas).find(([, schema]) =>
      schema["x-kubernetes-group-version-kind"]?.some((found) => found.kind === kind),
    )!;
    kinds[`${apiVersion}/${kind}`] = { $ref: `#/$defs/${shortName(name)}` };
    collect(name, schemas, $defs);
  }
  await server.close();
  return { kinds, $defs };
}

async function schemasOf(
  { transport }: ReturnType<typeof createApiServer>,
  path: string,
): Promise<Record<string, OpenApiSchema>> {
  const { body } = await transport({ method: "GET", path: `/openapi/v3/${path}`, headers: {} });
  // In process, the transport returns the document as text.
  if (body?.type !== "decoded" || typeof body.value !== "string")
    throw new Error(`the API server has no OpenAPI of ${path}`);
  return (JSON.parse(body.value) as { components: { schemas: Record<string, OpenApiSchema> } }).components.schemas;
}

interface OpenApiSchema extends JsonSchema {
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly kind: string }[];
}

/** Copies a type and all referenced types. */
function collect(name: string, from: Readonly<Record<string, OpenApiSchema>>, into: Record<string, JsonSchema>): void {
  const short = shortName(name);
  if (short in into) return;
  const schema = from[name]!;
  into[short] = {};
  into[short] = slim(schema, short, (reference) => {
    const referred = reference.slice("#/components/schemas/".length);
    collect(referred, from, into);
    return `#/$defs/${shortName(referred)}`;
  });
}

/** Removes everything that completion does not need. */
function slim(schema: JsonSchema, type: string, refer: (reference: string) => string): JsonSchema {
  const { description, properties, items, additionalProperties, $ref, allOf } = schema;
  const reference = $ref ?? allOf?.[0]?.$ref;
  const kept = Object.entries(properties ?? {}).filter(([field]) => !EXCLUDED_FIELDS.has(field));
  return {
    ...(description === undefined || description === "" ? {} : { description }),
    ...(reference === undefined ? {} : { $ref: refer(reference) }),
    ...(schema.type === undefined ? {} : { type: schema.type }),
    ...(schema.required === undefined ? {} : { required: schema.required }),
    ...(kept.length === 0
      ? {}
      : {
          properties: Object.fromEntries(
            kept.map(([field, value]) => {
              const values = VALUES[`${type}.${field}`];
              return [field, { ...slim(value, "", refer), ...(values === undefined ? {} : { enum: values }) }];
            }),
          ),
        }),
    ...(items === undefined ? {} : { items: slim(items, "", refer) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: slim(additionalProperties, "", refer) }
      : {}),
  };
}

function shortName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
