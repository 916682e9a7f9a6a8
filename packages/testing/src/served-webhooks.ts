import type { CustomResourceDefinition } from "@kubewright/api";
import type { WebhookCaller, WebhookResponse } from "@kubewright/apiserver";
import type { Client } from "@kubewright/client";
import { type Clock, realClock } from "@kubewright/clock";

/** Where the API server finds webhooks. */
export interface WebhookAddress {
  readonly url: string;
  /** Authorities of the certificate, in PEM. Absent: in the API server's process. */
  readonly ca?: string;
}

/** The webhooks of an operator of `@kubewright/operator`, or an object with the same interface. */
export interface OperatorWebhooksLike {
  readonly isEmpty: boolean;
  /** The CustomResourceDefinitions of converted resources. */
  readonly definitions: readonly CustomResourceDefinition[];
  /** Answers a call in this process. */
  answer(call: { readonly url: string; readonly body: unknown }): Promise<WebhookResponse>;
  /** Serves over HTTPS on this machine. */
  serve(clock: Clock): Promise<WebhookAddress & { close(): Promise<void> }>;
  /** Creates or changes the webhook configurations. */
  publish(client: Client, address: WebhookAddress): Promise<void>;
}

/** Webhooks that a test serves. */
export interface ServedWebhooks extends WebhookAddress {
  close(): Promise<void>;
}

/** Serves webhooks to an API server in another process. */
export function serveOverHttps(_name: string, webhooks: OperatorWebhooksLike): Promise<ServedWebhooks> {
  return webhooks.serve(realClock);
}

/** Webhooks in the process of the API server, by the host of their URL. Without I/O, so they work in virtual time. */
export class InProcessWebhooks {
  readonly #served = new Map<string, OperatorWebhooksLike[]>();
  readonly #others: WebhookCaller | undefined;

  /** @param others - Called for all other URLs. Default: their connections are refused. */
  constructor(others: WebhookCaller | undefined) {
    this.#others = others;
  }

  /** Calls a replica that runs. */
  readonly call: WebhookCaller = (call) => {
    const { hostname } = new URL(call.url);
    const [webhooks] = this.#served.get(hostname) ?? [];
    if (webhooks !== undefined) return webhooks.answer(call);
    if (this.#others !== undefined && !this.#served.has(hostname)) return this.#others(call);
    return Promise.reject(new Error("connect: connection refused"));
  };

  serve(name: string, webhooks: OperatorWebhooksLike): Promise<ServedWebhooks> {
    const host = `${name}.webhooks.test`;
    const replicas = this.#served.get(host) ?? [];
    this.#served.set(host, replicas);
    replicas.push(webhooks);
    const close = (): Promise<void> => {
      const index = replicas.indexOf(webhooks);
      if (index >= 0) replicas.splice(index, 1);
      return Promise.resolve();
    };
    return Promise.resolve({ url: `https://${host}`, close });
  }
}
