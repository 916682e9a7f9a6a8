import type { X509Certificate } from "node:crypto";
import type { Server } from "node:https";
import { TLSSocket } from "node:tls";

import { type Validity, certificateChains } from "./certificate-chains.js";
import { parseCertificates } from "./pem.js";

/** The certificate that a TLS client presented. The handshake has proved that the client has its key. */
export interface ClientCertificate {
  /** The last common name, as in Go; `""` when there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256, in lower-case hexadecimal. */
  readonly fingerprint: string;
  readonly notAfterMs: number;
  /**
   * Returns why no authority in the PEM text signed a certificate that is valid at the time (epoch milliseconds).
   * Returns `undefined` when one did.
   *
   * @throws Error when the text contains no certificate, or an unreadable one.
   */
  problem(authorities: string, nowMs: number): string | undefined;
  /**
   * Whether OpenSSL refused the certificate in the handshake, with the authorities and the time of the handshake. This
   * does not change for the connection: close it after the response, so that a client whose certificate has become
   * valid can reconnect.
   */
  readonly isRefused: boolean;
}

/**
 * The client certificates of an HTTPS server's connections. Create the server with `requestCert: true`,
 * `rejectUnauthorized: false` and all authorities as its `ca`. It must not resume sessions (`SSL_OP_NO_TICKET`),
 * because a resumed session contains only the client's own certificate.
 *
 * A certificate is accepted only if two checks agree. OpenSSL's check in the handshake is complete, except that it does
 * not distinguish between authorities. The check here, for each request, covers that: it uses exactly the given
 * authorities and time.
 *
 * Node's certificate chain is not trusted: Node 22 returns what the client sent, linked by name and without verified
 * signatures.
 */
export class ClientCertificates {
  readonly #presented = new WeakMap<TLSSocket, X509Certificate[]>();
  readonly #known = new WeakMap<TLSSocket, ClientCertificate>();

  constructor(server: Server) {
    // The intermediate certificates can be read only once, and Node 24.21 itself reads, and loses, them when the
    // handshake is done (nodejs/node#65579). `keylog` is the only event before that; its key material is ignored.
    server.on("keylog", (_line: Buffer, socket: TLSSocket) => {
      if (this.#presented.has(socket)) return;
      this.#presented.set(socket, []);
      socket.prependOnceListener("secure", () => this.#presented.set(socket, presentedCertificates(socket)));
    });
  }

  /** Returns the client's certificate; `undefined` when it presented none. */
  of(socket: unknown): ClientCertificate | undefined {
    if (!(socket instanceof TLSSocket)) return undefined;
    const known = this.#known.get(socket);
    if (known !== undefined) return known;
    const [leaf, ...intermediates] = this.#presented.get(socket) ?? [];
    if (leaf === undefined) return undefined;
    const certificate = new PresentedCertificate(leaf, intermediates, handshakeErrorOf(socket));
    this.#known.set(socket, certificate);
    return certificate;
  }
}

/** Returns the certificates in the order in which the client sent them. One need not have signed the previous one. */
function presentedCertificates(socket: TLSSocket): X509Certificate[] {
  const shown: X509Certificate[] = [];
  for (let next = socket.getPeerX509Certificate(); next !== undefined; next = next.issuerCertificate) shown.push(next);
  return shown;
}

function handshakeErrorOf({ authorized, authorizationError }: TLSSocket): string | undefined {
  return authorized ? undefined : String(authorizationError ?? "it was not verified");
}

class PresentedCertificate implements ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly fingerprint: string;
  readonly notAfterMs: number;
  readonly #leaf: X509Certificate;
  readonly #intermediates: readonly X509Certificate[];
  readonly #handshakeError: string | undefined;
  /** Validities by authorities: signatures are verified once per connection, and only the time is checked again. */
  readonly #chains = new Map<string, readonly Validity[]>();

  constructor(leaf: X509Certificate, intermediates: readonly X509Certificate[], handshakeError: string | undefined) {
    const { subject } = leaf.toLegacyObject() as { subject: { CN?: string | string[]; O?: string | string[] } };
    this.commonName = [subject.CN ?? ""].flat().at(-1) ?? "";
    this.organizations = [subject.O ?? []].flat();
    this.fingerprint = leaf.fingerprint256.replaceAll(":", "").toLowerCase();
    this.notAfterMs = leaf.validToDate.getTime();
    this.#leaf = leaf;
    this.#intermediates = intermediates;
    this.#handshakeError = handshakeError;
  }

  get isRefused(): boolean {
    return this.#handshakeError !== undefined;
  }

  problem(authorities: string, nowMs: number): string | undefined {
    // First, so that refused certificates cause no signature checks.
    if (this.#handshakeError !== undefined) return `x509: ${this.#handshakeError}`;
    const chains = this.#chainsTo(authorities);
    if (chains.length === 0) return "x509: certificate signed by unknown authority";
    if (chains.some(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs <= untilMs)) return undefined;
    return `x509: certificate has expired or is not yet valid: current time ${new Date(nowMs).toISOString()}`;
  }

  #chainsTo(authorities: string): readonly Validity[] {
    const known = this.#chains.get(authorities);
    if (known !== undefined) return known;
    // Two sets of authorities are in use: for users and for front proxies. More sets mean that the authorities have
    // changed.
    if (this.#chains.size === 2) this.#chains.clear();
    const chains = certificateChains(this.#leaf, this.#intermediates, parseCertificates(authorities));
    this.#chains.set(authorities, chains);
    return chains;
  }
}
