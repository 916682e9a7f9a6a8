import { X509Certificate, createPrivateKey } from "node:crypto";

import type { ConnectionOptions } from "./connection-options.js";

/** The TLS options of a connection, except the client certificate. */
export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: readonly string[];
  readonly servername?: string;
}

/**
 * Returns the options for verifying the server.
 *
 * @throws Error if authorities are combined with `insecureSkipTlsVerify`, or if the authorities contain no certificate.
 * Node accepts both. Upstream: client-go `transport.TLSConfigFor`, which trusts no authority after reading an empty
 * file.
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
 * Checks that a client certificate and a private key, in PEM, belong together.
 *
 * @throws Error if they do not, or if there is no key. A key without a certificate is ignored, as upstream.
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

/** Returns the valid certificates; there has to be at least one (Go's `AppendCertsFromPEM`). */
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
