import type { Client } from "@kubewright/client";
import type { YamlPath } from "@kubewright/apiserver/yaml";

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/**
 * Finds the permitted fields at a path of an object, from the cluster's OpenAPI document. Empty when the document has
 * no answer.
 */
export class KnownFields {
  readonly #client: Client;
  readonly #documents = new Map<string, Promise<OpenApiDocument>>();

  constructor(client: Client) {
    this.#client = client;
  }

  async at({ apiVersion = "", kind = "" }: { apiVersion?: string; kind?: string }, path: YamlPath): Promise<string[]> {
    const schemas = (await this.#document(apiVersion)).components?.schemas ?? {};
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    let schema = Object.values(schemas).find((each) =>
      each["x-kubernetes-group-version-kind"]?.some(
        (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
      ),
    );
    for (const step of path) {
      const resolved = resolve(schema, schemas);
      if (typeof step === "number") schema = resolved?.items;
      else if (resolved?.properties?.[step] !== undefined) schema = resolved.properties[step];
      else schema = typeof resolved?.additionalProperties === "object" ? resolved.additionalProperties : undefined;
    }
    return Object.keys(resolve(schema, schemas)?.properties ?? {});
  }

  #document(apiVersion: string): Promise<OpenApiDocument> {
    let document = this.#documents.get(apiVersion);
    if (document === undefined) {
      const path = apiVersion.includes("/") ? `/openapi/v3/apis/${apiVersion}` : `/openapi/v3/api/${apiVersion}`;
      // On failure there are only no suggestions.
      document = this.#client.getRaw(path).then(
        // The API server stores the document as text.
        (value) => (typeof value === "string" ? JSON.parse(value) : value) as OpenApiDocument,
        () => ({}),
      );
      this.#documents.set(apiVersion, document);
    }
    return document;
  }
}

function resolve(schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema | undefined {
  const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return reference === undefined ? schema : schemas[reference.replace("#/components/schemas/", "")];
}
