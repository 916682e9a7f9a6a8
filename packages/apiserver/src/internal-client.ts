import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";
import type { ApiRequest } from "@kubewright/transport";

/** What the server writes by itself, through the same door as everybody. What is refused is not told. */
export class InternalClient {
  readonly #serve: (request: ApiRequest) => void;
  readonly #userAgent: string;

  constructor(userAgent: string, serve: (request: ApiRequest) => void) {
    this.#userAgent = userAgent;
    this.#serve = serve;
  }

  /** One that is there already, from an earlier server, stays as it is. */
  create(definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>, namespace = ""): void {
    this.#write("POST", collection(definition, namespace), object);
  }

  replace(definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>): void {
    const { name = "", namespace = "" } = object.metadata;
    this.#write("PUT", `${collection(definition, namespace)}/${encodeURIComponent(name)}`, object);
  }

  /** Applies to what is cluster-scoped, whoever else has set it. */
  apply(
    definition: ResourceDefinition,
    name: string,
    members: object,
    { fieldManager, subresource = "" }: { readonly fieldManager: string; readonly subresource?: string },
  ): void {
    const below = subresource === "" ? "" : `/${subresource}`;
    const path = `${collection(definition, "")}/${encodeURIComponent(name)}${below}`;
    const applied = { apiVersion: apiVersionOf(definition), kind: definition.kind, metadata: { name }, ...members };
    const type = { "content-type": "application/apply-patch+yaml" };
    this.#write("PATCH", `${path}?fieldManager=${fieldManager}&force=true`, applied, type);
  }

  #write(method: ApiRequest["method"], path: string, value: object, more: ApiRequest["headers"] = {}): void {
    const headers = { "user-agent": this.#userAgent, ...more };
    this.#serve({ method, path, headers, body: { type: "decoded", value } });
  }
}

function collection(definition: ResourceDefinition, namespace: string): string {
  const root = `${definition.group === "" ? "/api" : "/apis"}/${apiVersionOf(definition)}`;
  return `${root}${namespace === "" ? "" : `/namespaces/${namespace}`}/${definition.resource}`;
}
