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
  /** The operator's: of the configurations, the Service and, with `-webhooks` behind it, the Secret. */
  readonly name: string;
  /** Where its Service and Secret are. */
  readonly namespace: string;
  readonly webhooks: readonly Webhook[];
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly address: Address;
  /** Has `tls.crt`, `tls.key` and `ca.crt`. Default: a certificate that replicas share. */
  readonly certDir: string | undefined;
  /** Where the API server finds them. Default: behind the Service. */
  readonly url: string | undefined;
  /** Told when they are being served, and that the API server knows. */
  readonly onServing: () => void;
}

/** Serves webhooks until it is told to stop, in the way that the manifests of `kubewright-operator` expect. */
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
