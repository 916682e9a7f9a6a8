import { X509Certificate, createPrivateKey } from "node:crypto";
import { isIP } from "node:net";

import type * as selfsigned from "selfsigned";

/** A server's certificate, key and authorities, in PEM. */
export interface WebhookCertificate {
  readonly cert: string;
  readonly key: string;
  /** Authorities to publish to the API server. Absent: another component publishes them, such as cert-manager. */
  readonly ca?: string | undefined;
}

/** A certificate with the key of its authority, which signs the next certificate. */
export interface OwnCertificate extends WebhookCertificate {
  readonly ca: string;
  readonly caKey: string;
}

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 365;
/** A certificate with a shorter remaining lifetime is replaced. */
const MIN_REMAINING_DAYS = 120;
/** Tolerance for clock skew. */
const BEFORE_MS = 3_600_000;
const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/**
 * Generates a certificate for these hosts, valid for a year, signed by an authority that is valid for ten. With
 * `before`, its authority signs, so that clients that trust it accept the new certificate.
 *
 * @throws Error when the optional peer dependency `selfsigned` is not installed.
 */
export async function makeCertificate(
  hosts: readonly string[],
  nowMs: number,
  before?: Pick<OwnCertificate, "ca" | "caKey">,
): Promise<OwnCertificate> {
  const { generate } = await loadSelfsigned();
  const lasting = (days: number): { notBeforeDate: Date; notAfterDate: Date } => ({
    notBeforeDate: new Date(nowMs - BEFORE_MS),
    notAfterDate: new Date(nowMs + days * DAY_MS),
  });
  let authority = before;
  if (authority === undefined) {
    const made = await generate([{ name: "commonName", value: `${hosts[0] ?? "webhooks"} authority`.slice(-64) }], {
      ...KEY,
      ...lasting(AUTHORITY_DAYS),
      extensions: [
        { name: "basicConstraints", cA: true, critical: true },
        { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
      ],
    });
    authority = { ca: made.cert, caKey: made.private };
  }
  const { cert, private: key } = await generate(
    [{ name: "commonName", value: (hosts[0] ?? "webhooks").slice(0, 64) }],
    {
      ...KEY,
      ...lasting(CERTIFICATE_DAYS),
      ca: { cert: authority.ca, key: authority.caKey },
      extensions: [
        { name: "keyUsage", digitalSignature: true, critical: true },
        { name: "extKeyUsage", serverAuth: true },
        {
          name: "subjectAltName",
          altNames: hosts.map((host) =>
            isIP(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host },
          ),
        },
      ],
    },
  );
  return { cert, key, ca: authority.ca, caKey: authority.caKey };
}

/** Loads the library only without a certificate: it takes a tenth of a second, and some megabytes permanently. */
async function loadSelfsigned(): Promise<typeof selfsigned> {
  try {
    return await import("selfsigned");
  } catch (error) {
    throw new Error(
      "cannot make a certificate for webhooks without the package selfsigned: npm install selfsigned, or use the files of a certificate",
      { cause: error },
    );
  }
}

/**
 * Whether a certificate is valid for all these hosts and long enough, is signed by its authority, and matches its key.
 */
export function isUsable({ cert, key, ca }: OwnCertificate, hosts: readonly string[], nowMs: number): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const authority = new X509Certificate(ca);
    return (
      certificate.validToDate.getTime() - nowMs > MIN_REMAINING_DAYS * DAY_MS &&
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(key)) &&
      hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)
    );
  } catch {
    // Malformed data cannot be used.
    return false;
  }
}

/** Whether an authority can sign the next certificate: it must remain valid for as long as that certificate. */
export function canSign({ ca, caKey }: OwnCertificate, nowMs: number): boolean {
  try {
    const authority = new X509Certificate(ca);
    return (
      authority.ca &&
      authority.validToDate.getTime() - nowMs > CERTIFICATE_DAYS * DAY_MS &&
      authority.checkPrivateKey(createPrivateKey(caKey))
    );
  } catch {
    return false;
  }
}
