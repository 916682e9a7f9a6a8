import type { Clock } from "@kubewright/clock";
import type { HeaderFields } from "@kubewright/transport";

import { notAcceptable } from "./api-error.js";
import { hashText } from "./discovery.js";
import { type JsonObject, isJsonObject } from "./json.js";
import type { Descriptions } from "./openapi/read-descriptions.js";
import { openApiV2Protobuf } from "./openapi/v2-protobuf.js";
import { openApiV2 } from "./openapi/v2.js";
import type { Query } from "./query.js";
import { type Reply, bytesReply, textReply } from "./reply.js";
import type { ResourceRegistry } from "./resource-registry.js";
import type { FieldSchema, ObjectSchema, ScalarType, Schema } from "./schema/schema.js";
import type { ServedResource } from "./served-resource.js";
import { mediaTypesIn } from "./transform.js";

const ROOT = "/openapi/v3";
const ROOT_V2 = "/openapi/v2";
/** The media type that kubectl requests, by its new and its old name. */
const V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const V2_PROTOBUF_NAMES = [V2_PROTOBUF, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"];
const PATCH_TYPES = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const STRATEGIC = "application/strategic-merge-patch+json";

interface Document {
  readonly hash: string;
  readonly text: string;
}

/**
 * Serves the OpenAPI documents that kubectl uses for validation, apply and explain. v3 has one document per group
 * version; v2 combines them in one. Builds them on first request, and again when the registry changes.
 */
export class OpenApi {
  readonly #registry: ResourceRegistry;
  readonly #documents = new Map<string, Document>();
  #v2: { readonly document: Document; protobuf?: Uint8Array } | undefined;
  #generation = -1;

  readonly #clock: Pick<Clock, "yieldToEventLoop">;

  constructor(registry: ResourceRegistry, clock: Pick<Clock, "yieldToEventLoop">) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Returns `undefined` when there is no such path. */
  async serve(path: string, query: Query, headers: HeaderFields): Promise<Reply | undefined> {
    const descriptions = await this.#loadDescriptions();
    this.#clearWhenChanged();
    if (path === ROOT_V2) return this.#serveV2(headers, descriptions);
    if (path === ROOT || path === `${ROOT}/`) return this.#index(descriptions);
    if (!path.startsWith(`${ROOT}/`)) return undefined;
    const name = path.slice(ROOT.length + 1);
    const document = this.#document(name, descriptions);
    if (document === undefined) return undefined;
    const asked = query.get("hash");
    if (asked !== undefined && asked !== document.hash) {
      return textReply(301, "", "text/plain", { location: `${path}?hash=${document.hash}` });
    }
    const etag = `"${document.hash}"`;
    const lasting =
      asked === undefined ? {} : { "cache-control": "public, immutable", expires: "Thu, 31 Dec 2099 23:59:59 GMT" };
    const common = { etag, vary: "Accept", ...lasting };
    if (headers["if-none-match"] === etag) return textReply(304, "", "application/json", common);
    return textReply(200, document.text, "application/json", common);
  }

  /** Loads the texts on demand: they are larger than the rest of this package, and most clients never request them. */
  async #loadDescriptions(): Promise<Descriptions> {
    let isLoading = true;
    const loaded = import("./openapi/descriptions.js").finally(() => (isLoading = false));
    loaded.catch(() => {});
    // A simulated clock waits for callers of `yieldToEventLoop`. It would advance while a module is loaded.
    while (isLoading) await this.#clock.yieldToEventLoop();
    return (await loaded).descriptions;
  }

  #clearWhenChanged(): void {
    if (this.#generation === this.#registry.generation) return;
    this.#documents.clear();
    this.#v2 = undefined;
    this.#generation = this.#registry.generation;
  }

  /** Upstream: kube-openapi `pkg/handler`. */
  #serveV2(headers: HeaderFields, descriptions: Descriptions): Reply {
    const types = mediaTypesIn(headers["accept"]);
    const chosen = types.find((type) => V2_PROTOBUF_NAMES.includes(type) || JSON_TYPES.has(type));
    if (chosen === undefined) throw notAcceptable(["application/json", V2_PROTOBUF]);
    const cached = (this.#v2 ??= { document: documentOf(openApiV2(this.#all(descriptions))) });
    const etag = `"${cached.document.hash}"`;
    const common = { etag, vary: "Accept" };
    if (headers["if-none-match"] === etag) return textReply(304, "", "application/json", common);
    if (JSON_TYPES.has(chosen)) return textReply(200, cached.document.text, "application/json", common);
    cached.protobuf ??= openApiV2Protobuf(JSON.parse(cached.document.text) as JsonObject);
    return bytesReply(200, cached.protobuf, V2_PROTOBUF, common);
  }

  #index(descriptions: Descriptions): Reply {
    const paths: JsonObject = {};
    for (const name of this.#names())
      paths[name] = { serverRelativeURL: `${ROOT}/${name}?hash=${this.#document(name, descriptions)!.hash}` };
    const text = JSON.stringify({ paths });
    return textReply(200, text, "text/plain; charset=utf-8", { etag: `"${hashText(text)}"`, vary: "Accept" });
  }

  #all(descriptions: Descriptions): JsonObject[] {
    return this.#names().map((name) => JSON.parse(this.#document(name, descriptions)!.text) as JsonObject);
  }

  #names(): string[] {
    return [...this.#registry.groups].flatMap(([group, versions]) =>
      [...versions.keys()].map((version) => (group === "" ? `api/${version}` : `apis/${group}/${version}`)),
    );
  }

  #document(name: string, descriptions: Descriptions): Document | undefined {
    const known = this.#documents.get(name);
    if (known !== undefined) return known;
    const [root, group = "", version = ""] = name.split("/");
    const resources =
      root === "api"
        ? this.#registry.groups.get("")?.get(group)
        : root === "apis"
          ? this.#registry.groups.get(group)?.get(version)
          : undefined;
    if (resources === undefined || resources.size === 0) return undefined;
    const document = documentOf(describe([...resources.values()], descriptions));
    this.#documents.set(name, document);
    return document;
  }
}

const JSON_TYPES: ReadonlySet<string> = new Set(["application/json", "application/*", "*/*"]);

function documentOf(value: JsonObject): Document {
  const text = JSON.stringify(value);
  return { hash: hashText(text), text };
}

function describe(resources: readonly ServedResource[], descriptions: Descriptions): JsonObject {
  const schemas: JsonObject = {};
  const describer = new Describer(schemas, descriptions);
  const paths: JsonObject = {};
  for (const resource of resources) {
    addPaths(paths, resource);
    describer.addKind(resource);
  }
  return { openapi: "3.0.0", info: { title: "Kubernetes", version: "unversioned" }, paths, components: { schemas } };
}

function addPaths(paths: JsonObject, resource: ServedResource): void {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const collection = `${root}${resource.namespaced ? "/namespaces/{namespace}" : ""}/${resource.resource}`;
  const gvk = { group: resource.group, version: resource.version, kind: resource.kind };
  const operation = (action: string, parameters: readonly string[] = [], body?: object): object => ({
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk,
    ...(parameters.length === 0
      ? {}
      : {
          parameters: parameters.map((name) => ({
            name,
            in: "query",
            schema: { type: name === "force" ? "boolean" : "string", uniqueItems: true },
          })),
        }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { "200": { description: "OK" } },
  });
  const write = ["pretty", "dryRun", "fieldManager", "fieldValidation"];
  const json = {
    content: {
      "*/*": {
        schema: { $ref: `#/components/schemas/${componentName(resource.schema?.name ?? resource.kind, resource)}` },
      },
    },
  };
  const patchBody = {
    content: Object.fromEntries(
      [...PATCH_TYPES, ...(resource.custom === undefined ? [STRATEGIC] : [])].map((type) => [
        type,
        { schema: { type: "object" } },
      ]),
    ),
  };
  const { verbs } = resource;
  paths[collection] = {
    ...(verbs.has("list") ? { get: operation("list") } : {}),
    ...(verbs.has("create") ? { post: operation("post", write, json) } : {}),
    ...(verbs.has("deletecollection") ? { delete: operation("deletecollection") } : {}),
  };
  const object: JsonObject = {
    ...(verbs.has("get") ? { get: operation("get") } : {}),
    ...(verbs.has("update") ? { put: operation("put", write, json) } : {}),
    ...(verbs.has("patch") ? { patch: operation("patch", [...write, "force"], patchBody) } : {}),
    ...(verbs.has("delete") ? { delete: operation("delete") } : {}),
  };
  if (Object.keys(object).length > 0) paths[`${collection}/{name}`] = object;
  if (resource.subresources.has("status")) {
    paths[`${collection}/{name}/status`] = {
      get: operation("get"),
      put: operation("put", write, json),
      patch: operation("patch", [...write, "force"], patchBody),
    };
  }
}

/** Writes schemas as OpenAPI components, each type once. */
class Describer {
  readonly #schemas: JsonObject;
  readonly #descriptions: Descriptions;

  constructor(schemas: JsonObject, descriptions: Descriptions) {
    this.#schemas = schemas;
    this.#descriptions = descriptions;
  }

  addKind(resource: ServedResource): void {
    const { group, version, kind, schema, custom } = resource;
    const name = componentName(schema?.name ?? kind, resource);
    if (custom?.openApiSchema !== undefined) this.#schemas[name] = this.#customKind(custom.openApiSchema, schema);
    else if (schema === undefined) this.#schemas[name] = { type: "object" };
    else this.#object(schema, name, group === "events.k8s.io" && kind === "Event" ? "EventsV1Event" : schema.name);
    (this.#schemas[name] as JsonObject)["x-kubernetes-group-version-kind"] = [{ group, version, kind }];
    const items = { type: "array", items: { $ref: `#/components/schemas/${name}` } };
    this.#schemas[`${name}List`] = {
      type: "object",
      required: ["items"],
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, items },
      "x-kubernetes-group-version-kind": [{ group, version, kind: `${kind}List` }],
    };
  }

  /** Returns the schema of the definition, extended with the members of every object. */
  #customKind(openApi: JsonObject, schema: ObjectSchema | undefined): JsonObject {
    const metadata = schema?.fields.get("metadata")?.schema;
    const properties = isJsonObject(openApi["properties"]) ? openApi["properties"] : {};
    return {
      ...openApi,
      type: "object",
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        ...properties,
        metadata: metadata === undefined ? { type: "object" } : this.#schema(metadata),
      },
    };
  }

  /** @param type - Name of the type in the descriptions. */
  #object(schema: ObjectSchema, name: string, type = schema.name): void {
    if (Object.hasOwn(this.#schemas, name)) return;
    const texts =
      this.#descriptions[type] === undefined ? {} : { ...this.#descriptions["*"], ...this.#descriptions[type] };
    const properties: JsonObject = {};
    const described: JsonObject = { ...describedBy(texts[""]), type: "object", properties };
    this.#schemas[name] = described;
    for (const field of schema.fields.values())
      properties[field.name] = { ...describedBy(texts[field.name] || this.#ofType(field)), ...this.#field(field) };
    const required = [...schema.fields.values()].filter((field) => field.required).map((field) => field.name);
    if (required.length > 0) described["required"] = required;
    if (schema.atomic) described["x-kubernetes-map-type"] = "atomic";
  }

  /** Returns the description of the field's type, for newer fields without a description of their own. */
  #ofType({ schema }: FieldSchema): string | undefined {
    return schema.type === "object" ? this.#descriptions[schema.name]?.[""] : undefined;
  }

  #field({ schema, replaces }: FieldSchema): JsonObject {
    const described = this.#schema(schema);
    if (replaces === true) return { ...described, "x-kubernetes-patch-strategy": "replace" };
    if (schema.type !== "list") return described;
    const { merge, listType, keys } = schema;
    return {
      ...described,
      ...(merge === undefined
        ? {}
        : {
            "x-kubernetes-patch-strategy": merge.retainKeys ? "merge,retainKeys" : "merge",
            ...(merge.mergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": merge.mergeKey }),
          }),
      "x-kubernetes-list-type": listType,
      ...(listType === "map" ? { "x-kubernetes-list-map-keys": keys } : {}),
    };
  }

  #schema(schema: Schema): JsonObject {
    switch (schema.type) {
      case "object": {
        const name = componentName(schema.name, undefined);
        this.#object(schema, name);
        return { allOf: [{ $ref: `#/components/schemas/${name}` }] };
      }
      case "map":
        return {
          type: "object",
          additionalProperties: this.#schema(schema.value),
          ...(schema.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
        };
      case "list":
        return { type: "array", items: this.#schema(schema.item) };
      case "scalar":
        return scalarSchema(schema.scalar);
      case "any":
        return {};
      default:
        return schema satisfies never;
    }
  }
}

function describedBy(description: string | undefined): JsonObject {
  return description ? { description } : {};
}

function scalarSchema(scalar: ScalarType): JsonObject {
  switch (scalar) {
    case "int32":
    case "int64":
      return { type: "integer", format: scalar };
    case "double":
      return { type: "number", format: "double" };
    case "boolean":
      return { type: "boolean" };
    case "time":
    case "microtime":
      return { type: "string", format: "date-time" };
    case "bytes":
      return { type: "string", format: "byte" };
    case "intOrString":
      return { type: "string", format: "int-or-string" };
    case "quantity":
      return { oneOf: [{ type: "string" }, { type: "number" }] };
    case "string":
      return { type: "string" };
    default:
      return scalar satisfies never;
  }
}

/** Returns the component name: kinds have upstream's names with the group, shared types only their type name. */
function componentName(type: string, resource: ServedResource | undefined): string {
  if (resource === undefined) return `io.k8s.${type}`;
  if (resource.custom !== undefined)
    return `${resource.group.split(".").reverse().join(".")}.${resource.version}.${resource.kind}`;
  const group = resource.group === "" ? "core" : (resource.group.split(".", 1)[0] ?? "");
  return `io.k8s.api.${group}.${resource.version}.${resource.kind}`;
}
