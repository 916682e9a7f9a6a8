import { qualifiedResource } from "@kubewright/api";
import { describeRequest } from "@kubewright/apiserver";
import type { NetworkExchange, SentRequest } from "@kubewright/cluster";
import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import type { AnsweredRequest, ObservedRequest } from "./world.js";

/** Converts requests of the network to requests of a {@link World}; each request is converted once. */
export class ReportedRequests {
  readonly #known = new WeakMap<ApiRequest, ObservedRequest>();

  /** Returns a request; `undefined` when it addresses no resource. */
  infoOf({ request, sender, sentMs }: SentRequest): ObservedRequest | undefined {
    const known = this.#known.get(request);
    if (known !== undefined) return known;
    const described = describeRequest(request);
    if (described?.resource === undefined) return undefined;
    const { group, resource, subresource, namespace, name } = described.resource;
    const body = request.body?.type === "decoded" ? request.body.value : undefined;
    const info: ObservedRequest = {
      component: sender.component,
      process: sender.process,
      incarnation: sender.incarnation,
      sentMs,
      verb: described.verb,
      resource: qualifiedResource({ group, resource }),
      subresource,
      namespace,
      name: name === "" && described.verb === "create" ? nameIn(body) : name,
      ...(body === undefined ? {} : { body }),
    };
    this.#known.set(request, info);
    return info;
  }

  answerOf(answered: NetworkExchange, atMs: number): AnsweredRequest | undefined {
    const info = this.infoOf(answered);
    if (info === undefined) return undefined;
    const { response, served } = answered;
    const message = response === undefined ? undefined : messageOf(response);
    return {
      ...info,
      atMs,
      code: response?.status ?? 0,
      ...(message === undefined ? {} : { message }),
      injected: response === undefined || response !== served,
      tookEffect: served !== undefined && served.status < 400,
    };
  }
}

function nameIn(body: unknown): string {
  return (body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? "";
}

function messageOf({ status, body }: ApiResponse): string | undefined {
  if (status < 400 || body.type !== "decoded") return undefined;
  return (body.value as { message?: string } | undefined)?.message;
}
