import { type DeepReadonly, type KubernetesObject, type ResourceDefinition, apiVersionOf } from "@kubewright/api";
import type { ApiRequest } from "@kubewright/transport";

/** Client for the server's own writes. They are processed as any other request. Errors are ignored. */
export class InternalClient {
  readonly #serve: (request: ApiRequest) => void;
  readonly #userAgent: string;

  constructor(userAgent: string, serve: (request: ApiRequest) => void) {
    this.#userAgent = userAgent;
    this.#serve = serve;
  }

  /** Creates an object. An existing object, for example of an earlier server, stays unchanged. */
  create(definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>, namespace = ""): void {
    this.#write("POST", collection(definition, namespace), object);
  }

  replace(definition: ResourceDefinition, object: DeepReadonly<KubernetesObject>): void {
    const { name = "", namespace = "" } = object.metadata;
    this.#write("PUT", `${collection(definition, namespace)}/${encodeURIComponent(name)}`, object);
  }

  /** Applies members to a cluster-scoped object, with force. */
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
