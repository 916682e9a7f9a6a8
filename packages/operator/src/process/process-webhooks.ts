import path from "node:path";

import type { Client } from "@kubewright/client";
import type { Clock, Logger } from "@kubewright/clock";
import type { Runnable } from "@kubewright/controller";

import type { WebhookPlace } from "../webhooks/configurations.js";
import { type CertificateSource, certificateFiles, sharedCertificate } from "../webhooks/server/certificate-source.js";
import { serveWebhooks } from "../webhooks/server/serve-webhooks.js";
import type { Webhook } from "../webhooks/webhook.js";
import type { Address } from "./process-flags.js";

export interface ProcessWebhooksOptions {
  /**
   * The operator's name: also that of the configurations and the Service and, with the suffix `-webhooks`, of the
   * Secret.
   */
  readonly name: string;
  /** Namespace of the Service and the Secret. */
  readonly namespace: string;
  readonly webhooks: readonly Webhook[];
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly address: Address;
  /** Directory with `tls.crt`, `tls.key` and `ca.crt`. Default: a certificate that replicas share. */
  readonly certDir: string | undefined;
  /** URL at which the API server reaches the webhooks. Default: through the Service. */
  readonly url: string | undefined;
  /** Called when the webhooks are served and published to the API server. */
  readonly onServing: () => void;
}

/** Serves webhooks until the signal aborts, as the manifests of `kubewright-operator` expect. */
export function processWebhooks(options: ProcessWebhooksOptions): Runnable {
  return { name: "webhooks", run: (signal) => run(options, signal) };
}

async function run(
  { name, namespace, webhooks, client, clock, logger, address, onServing, ...options }: ProcessWebhooksOptions,
  signal: AbortSignal,
): Promise<void> {
  const place: WebhookPlace = options.url === undefined ? { service: { name, namespace } } : { url: options.url };
  const host = options.url === undefined ? `${name}.${namespace}.svc` : new URL(options.url).hostname;
  const certificate: CertificateSource =
    options.certDir === undefined
      ? sharedCertificate(client, { name: `${name}-webhooks`, namespace }, [host], clock)
      : filesIn(options.certDir);
  const publish = { client, name, place };
  const served = await serveWebhooks({ webhooks, clock, certificate, ...address, publish, logger });
  logger.info({ port: served.port, serves: "webhooks" }, "Listening");
  onServing();
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await served.close();
}

function filesIn(folder: string): CertificateSource {
  const file = (name: string): string => path.join(folder, name);
  return certificateFiles({ cert: file("tls.crt"), key: file("tls.key"), ca: file("ca.crt") });
}
