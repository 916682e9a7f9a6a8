import type { KubernetesObject, ResourceDefinition } from "@kubewright/api";

import { decodeObject } from "./decode.js";
import { Requester, type RequesterOptions } from "./requester.js";
import { ResourceClient } from "./resource-client.js";

/** A Kubernetes API client over one transport. The same class serves a real cluster and an in-process API server. */
export class Client {
  readonly #requester: Requester;

  constructor(options: RequesterOptions) {
    this.#requester = new Requester(options);
  }

  /** Returns the client of one resource, typed by its definition. */
  resource<T extends KubernetesObject, Input = unknown>(
    definition: ResourceDefinition<T, Input>,
  ): ResourceClient<T, Input> {
    return new ResourceClient(definition, this.#requester);
  }

  /**
   * Sends a GET request for a literal path such as `/version` or `/apis`. @throws StatusError for an error response.
   */
  async getRaw(path: string, signal?: AbortSignal): Promise<unknown> {
    const response = await this.#requester.send({ method: "GET", path, ...(signal === undefined ? {} : { signal }) });
    return decodeObject(response, { method: "GET", path });
  }
}
