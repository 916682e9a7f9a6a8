import type { X509Certificate } from "node:crypto";

/** Period of validity in epoch milliseconds, both ends included. */
export interface Validity {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** As in Go: limits the work for a client that sends many certificates with equal names. */
const MAX_SIGNATURES = 100;
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USAGE = "2.5.29.37.0";

/**
 * Returns the validity of every chain from a client's certificate to one of the authorities, through the intermediate
 * certificates. A chain is valid while all its certificates are. An empty list means that no authority signed the
 * certificate.
 *
 * In a chain, each certificate is signed with the key of the next one, which is a certificate authority that may sign
 * certificates. No certificate in it excludes client authentication. Given authorities are trusted whatever their
 * issuer. Intermediate certificates are trusted only through their signature.
 *
 * Path lengths, name constraints and unknown critical extensions are not checked here, because Node does not expose
 * them; OpenSSL checks them in the handshake. Stricter than Go: an authority must be marked as one (version 1
 * certificates cannot be).
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
      // `checkIssued` checks that names and key identifiers match, and that the issuer's key may sign certificates.
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
    // OpenSSL does not support the key.
    return false;
  }
}

/** A certificate without extended key usage may be used for anything. Node's `keyUsage` is the extended key usage. */
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
