import { X509Certificate, createPrivateKey } from "node:crypto";

import type { ConnectionOptions } from "./connection-options.js";

/** What a TLS connection is made with, apart from a client certificate. */
export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: readonly string[];
  readonly servername?: string;
}

/**
 * How to know the server.
 *
 * @throws Error when there are authorities that are not to be asked, or no certificate in what should hold some: Node would
 *   not mind either. Upstream: client-go `transport.TLSConfigFor`, which for an empty file trusts nobody from then on.
 */
export function tlsOptions({ ca, insecureSkipTlsVerify = false, serverName }: ConnectionOptions): TlsOptions {
  if (ca !== undefined && insecureSkipTlsVerify)
    throw new Error("specifying a root certificates file with the insecure flag is not allowed");
  return {
    rejectUnauthorized: !insecureSkipTlsVerify,
    ...(ca === undefined ? {} : { ca: parseCertificates(ca) }),
    ...(serverName ? { servername: serverName } : {}),
  };
}

/**
 * That a client certificate and a private key, in PEM, can be used together.
 *
 * @throws Error when they cannot, or there is no key. A key without a certificate means nothing, as upstream.
 */
export function checkKeyPair(cert: string | undefined, key: string | undefined): void {
  if (!cert) return;
  if (!key) throw new Error("a client certificate needs its private key");
  let matches: boolean;
  try {
    matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new Error(`the client certificate or its private key is not PEM: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!matches) throw new Error("tls: private key does not match public key");
}

/** Those that can be understood; there has to be one (Go's `AppendCertsFromPEM`). */
function parseCertificates(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (blocks === null)
    throw new Error(
      `unable to load root certificates: ${pem.trim() === "" ? "no valid certificate authority data seen" : "unable to parse bytes as PEM block"}`,
    );
  const certificates = blocks.filter(isCertificate);
  if (certificates.length === 0)
    throw new Error("unable to load root certificates: failed to parse certificate: it is not X.509");
  return certificates;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
