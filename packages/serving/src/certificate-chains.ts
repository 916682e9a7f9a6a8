import type { X509Certificate } from "node:crypto";

/** When something is valid, in epoch milliseconds, both ends included. */
export interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** As in Go: whoever sends certificates of equal names must not keep us busy. */
const MAX_SIGNATURES = 100;
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USAGE = "2.5.29.37.0";

/**
 * Every way from a client's certificate to one of the authorities, over certificates that came along with it, and when each
 * is valid: when all that is on it is. None: no authority vouches for it.
 *
 * Each certificate on the way is signed with the key of the next, which is a certificate authority's and may sign
 * certificates, and none is for something else than clients. Authorities are believed because they are given, whoever
 * signed them. What came along is believed for nothing but its signature.
 *
 * Not looked at, because Node does not tell, are path lengths, name constraints and unknown critical extensions; OpenSSL
 * looks at these in the handshake. Stricter than Go: an authority must say that it is one (version 1 certificates cannot).
 *
 * @see crypto/x509/verify.go in Go
 */
export function certificateChains(
  leaf: X509Certificate,
  intermediates: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): Validity[] {
  const found: Validity[] = [];
  const trusted = new Set(authorities.map(({ fingerprint256 }) => fingerprint256));
  const issuers = new Map([...authorities, ...intermediates].map((issuer) => [issuer.fingerprint256, issuer]));
  let signatures = 0;
  const extend = (chain: readonly X509Certificate[]): void => {
    const last = chain.at(-1)!;
    if (trusted.has(last.fingerprint256)) {
      if (chain.every(isForClients)) found.push(commonValidity(chain));
      return;
    }
    for (const [fingerprint, issuer] of issuers) {
      if (chain.some(({ fingerprint256 }) => fingerprint256 === fingerprint)) continue;
      // `checkIssued`: the names and key identifiers fit, and the issuer's key may sign certificates.
      if (!issuer.ca || !last.checkIssued(issuer)) continue;
      signatures += 1;
      if (signatures > MAX_SIGNATURES) return;
      if (isSignedBy(last, issuer)) extend([...chain, issuer]);
    }
  };
  extend([leaf]);
  return found;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // A key that OpenSSL does not know.
    return false;
  }
}

/** One that does not say what it is for is for everything. What Node calls `keyUsage` is the extended one. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE);
}

function commonValidity(chain: readonly X509Certificate[]): Validity {
  return {
    fromMs: Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime())),
    untilMs: Math.min(...chain.map(({ validToDate }) => validToDate.getTime())),
  };
}
