import type { CustomResourceDefinition } from "@kubewright/api";
import type { Client } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";

import { definitionOf } from "../custom-resource/definition.js";
import { type CallAnswer, answerCall, checkWebhooks } from "./answer-call.js";
import { isConversion } from "./configurations.js";
import { publishWebhooks } from "./publish-webhooks.js";
import { ownCertificate } from "./server/certificate-source.js";
import { serveWebhooks } from "./server/serve-webhooks.js";
import type { Webhook } from "./webhook.js";

/** The address of served webhooks. */
export interface OperatorWebhooksAddress {
  readonly url: string;
  /** Authorities of the certificate, in PEM. */
  readonly ca: string;
  close(): Promise<void>;
}

/** The webhooks of an operator, for a test kit or a program that serves them itself. */
export class OperatorWebhooks {
  readonly #name: string;
  readonly #webhooks: readonly Webhook[];

  /** @throws Error when two webhooks have the same name or path. */
  constructor(name: string, webhooks: readonly Webhook[]) {
    checkWebhooks(webhooks);
    this.#name = name;
    this.#webhooks = webhooks;
  }

  get isEmpty(): boolean {
    return this.#webhooks.length === 0;
  }

  /** The CustomResourceDefinitions of the converted resources, in all versions. */
  get definitions(): readonly CustomResourceDefinition[] {
    return this.#webhooks.filter(isConversion).map(({ definition, versions }) => definitionOf(definition, versions));
  }

  /** Answers a call in this process. The path of the URL selects the webhook. */
  answer({ url, body }: { readonly url: string; readonly body: unknown }): Promise<CallAnswer> {
    // Copies the body, as over the network: webhooks must not share objects with the API server.
    return answerCall(this.#webhooks, new URL(url).pathname, JSON.parse(JSON.stringify(body)));
  }

  /** Serves the webhooks over HTTPS on a free port of this machine, with a certificate of their own. */
  async serve(clock: Clock): Promise<OperatorWebhooksAddress> {
    const host = "127.0.0.1";
    const certificate = await ownCertificate([host], clock)();
    const served = await serveWebhooks({
      webhooks: this.#webhooks,
      clock,
      certificate: () => Promise.resolve(certificate),
      host,
      port: 0,
    });
    return { url: `https://${host}:${served.port}`, ca: certificate.ca!, close: () => served.close() };
  }

  /** Creates or changes the configurations, so that the API server calls the webhooks at a URL. */
  publish(
    client: Pick<Client, "resource">,
    { url, ca }: { readonly url: string; readonly ca?: string },
  ): Promise<void> {
    return publishWebhooks({ client, name: this.#name, webhooks: this.#webhooks, place: { url }, ca });
  }
}
