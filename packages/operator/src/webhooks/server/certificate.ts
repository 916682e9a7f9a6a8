import { X509Certificate, createPrivateKey } from "node:crypto";
import { isIP } from "node:net";

/** What a server shows, and who vouches for it. All in PEM. */
export interface WebhookCertificate {
  readonly cert: string;
  readonly key: string;
  /** Authorities that the API server is told of. Absent: it is told by somebody else, such as cert-manager. */
  readonly ca?: string | undefined;
}

/** The same with the key of the authority, which signs the next one. */
export interface OwnCertificate extends WebhookCertificate {
  readonly ca: string;
  readonly caKey: string;
}

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 365;
/** A certificate that is good for less than this is made anew. */
const MIN_REMAINING_DAYS = 120;
/** Clocks differ. */
const BEFORE_MS = 3_600_000;
const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/**
 * Makes a certificate for these hosts, good for a year, of an authority that is good for ten: the same one as before, so that
 * whoever knows it already trusts the new certificate, too.
 */
export async function makeCertificate(
  hosts: readonly string[],
  nowMs: number,
  before?: Pick<OwnCertificate, "ca" | "caKey">,
): Promise<OwnCertificate> {
  // Loaded only by who has no certificate: it takes a tenth of a second, and some megabytes for good.
  const { generate } = await import("selfsigned");
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

/** Whether a certificate is for all these hosts, good for a while yet, of its authority, and has its key. */
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
    // What cannot be read is of no use.
    return false;
  }
}

/** Whether an authority can sign the next certificate: it is good for as long as that one. */
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
