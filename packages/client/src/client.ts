import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import { decodeObject } from "./decode.js";
import { Requester, type RequesterOptions } from "./requester.js";
import { ResourceClient } from "./resource-client.js";

/** A Kubernetes API client over one transport: the same for a real cluster and for one in this process. */
export class Client {
  readonly #requester: Requester;

  constructor(options: RequesterOptions) {
    this.#requester = new Requester(options);
  }

  /** The verbs of one resource, typed by its definition. */
  resource<T extends KubernetesObject>(definition: ResourceDefinition<T>): ResourceClient<T> {
    return new ResourceClient(definition, this.#requester);
  }

  /** GETs a path as it is, such as `/version` or `/apis`. @throws StatusError when refused. */
  async getRaw(path: string, signal?: AbortSignal): Promise<unknown> {
    const response = await this.#requester.send({ method: "GET", path, ...(signal === undefined ? {} : { signal }) });
    return decodeObject(response, { method: "GET", path });
  }
}
