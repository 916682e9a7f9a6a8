import { type JsonObject, isJsonObject } from "../json.js";

const COMPONENTS = "#/components/schemas/";

/**
 * Combines all OpenAPI v3 documents into one v2 document. Shared types are equal in all documents: the first one is
 * used.
 *
 * v2 cannot express parts of v3. Alternatives to a value's first type are omitted, as upstream does, so that clients
 * accept too much rather than too little.
 */
export function openApiV2(documents: readonly JsonObject[]): JsonObject {
  const paths: JsonObject = {};
  const definitions: JsonObject = {};
  for (const document of documents) {
    for (const [path, item] of entriesOf(document["paths"])) paths[path] = pathItem(item as JsonObject);
    const { schemas } = document["components"] as { schemas: JsonObject };
    for (const [name, schema] of Object.entries(schemas)) definitions[name] ??= schemaV2(schema);
  }
  return { swagger: "2.0", info: { title: "Kubernetes", version: "unversioned" }, paths, definitions };
}

function pathItem(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).map(([method, value]) => [method, operation(value as JsonObject)]));
}

function operation({ requestBody, parameters = [], ...rest }: JsonObject): JsonObject {
  const inQuery = (parameters as readonly JsonObject[]).map(({ schema, ...parameter }) => ({
    ...parameter,
    ...(schema as JsonObject),
  }));
  if (requestBody === undefined) return { ...rest, parameters: inQuery };
  const { content } = requestBody as { content: Record<string, { schema: JsonObject }> };
  const [body] = Object.values(content);
  return {
    ...rest,
    consumes: Object.keys(content),
    parameters: [{ name: "body", in: "body", required: true, schema: schemaV2(body!.schema) }, ...inQuery],
  };
}

/** Upstream: apiextensions `pkg/controller/openapi/v2/conversion.go` ToStructuralOpenAPIV2. */
function schemaV2(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { allOf, oneOf, anyOf: _anyOf, not: _not, nullable, ...rest } = schema;
  const reference =
    referenceIn(schema) ?? (Array.isArray(allOf) && allOf.length === 1 ? referenceIn(allOf[0]) : undefined);
  if (reference !== undefined) return { ...rest, $ref: reference.replace(COMPONENTS, "#/definitions/") };
  // A quantity: a string that may also be a number.
  if (rest["type"] === undefined && isJsonObject((oneOf as readonly unknown[] | undefined)?.[0]))
    return { ...rest, ...(oneOf as readonly JsonObject[])[0] };
  if (nullable === true || rest["x-kubernetes-int-or-string"] === true) delete rest["type"];
  if (nullable === true || rest["x-kubernetes-preserve-unknown-fields"] === true) {
    delete rest["items"];
    delete rest["properties"];
  }
  const { properties, items, additionalProperties } = rest;
  return {
    ...rest,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(entriesOf(properties).map(([name, value]) => [name, schemaV2(value)])) }),
    ...(items === undefined ? {} : { items: schemaV2(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: schemaV2(additionalProperties) }),
  };
}

function referenceIn(schema: unknown): string | undefined {
  const reference = isJsonObject(schema) ? schema["$ref"] : undefined;
  return typeof reference === "string" ? reference : undefined;
}

function entriesOf(value: unknown): [string, unknown][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
