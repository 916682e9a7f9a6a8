import type { X509Certificate } from "node:crypto";
import type { Server } from "node:https";
import { TLSSocket } from "node:tls";

import { type Validity, certificateChains } from "./certificate-chains.js";
import { parseCertificates } from "./pem.js";

/** The certificate a TLS client showed; the handshake proved that it has the key. */
export interface ClientCertificate {
  /** The last one, as in Go; `""`: none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** SHA-256, in lower-case hexadecimal. */
  readonly fingerprint: string;
  readonly notAfterMs: number;
  /**
   * Why no authority in this PEM text vouches for it at this time (epoch milliseconds), or `undefined`: one does.
   *
   * @throws Error when the text holds no certificate, or one that cannot be read.
   */
  problem(authorities: string, nowMs: number): string | undefined;
  /**
   * OpenSSL refused it in the handshake, by the authorities and the time there were then. That stays so for the connection:
   * end it with the answer, for a client that has become good since.
   */
  readonly isRefused: boolean;
}

/**
 * Whose certificates the clients of an HTTPS server showed. The server must be made with `requestCert: true` and
 * `rejectUnauthorized: false`, with all authorities as its `ca`, and must not resume sessions (`SSL_OP_NO_TICKET`): who
 * resumes one shows no certificates but the client's own.
 *
 * Two verdicts must agree. OpenSSL's, in the handshake, is complete but for one question: it takes all authorities for one.
 * Ours, for each request, answers that: to exactly the authorities in question, at this time.
 *
 * What Node says of the chain is not believed: Node 22 tells what the client sent, linked by name and signed by anybody.
 */
export class ClientCertificates {
  readonly #presented = new WeakMap<TLSSocket, X509Certificate[]>();
  readonly #known = new WeakMap<TLSSocket, ClientCertificate>();

  constructor(server: Server) {
    // Certificates that come along with the client's can be read once, and Node 24.21 reads, and loses, them itself when
    // the handshake is done (nodejs/node#65579). This is the one event before that; what it tells of keys is dropped.
    server.on("keylog", (_line: Buffer, socket: TLSSocket) => {
      if (this.#presented.has(socket)) return;
      this.#presented.set(socket, []);
      socket.prependOnceListener("secure", () => this.#presented.set(socket, presentedCertificates(socket)));
    });
  }

  /** `undefined`: it showed none. */
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

/** In the order in which they were sent, which is no promise that one signed the other. */
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
  /** By the authorities they end with: signatures are verified once in a connection, and only the time is asked again. */
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
    // First: nobody else's certificates are worth the work.
    if (this.#handshakeError !== undefined) return `x509: ${this.#handshakeError}`;
    const chains = this.#chainsTo(authorities);
    if (chains.length === 0) return "x509: certificate signed by unknown authority";
    if (chains.some(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs <= untilMs)) return undefined;
    return `x509: certificate has expired or is not yet valid: current time ${new Date(nowMs).toISOString()}`;
  }

  #chainsTo(authorities: string): readonly Validity[] {
    const known = this.#chains.get(authorities);
    if (known !== undefined) return known;
    // Users' authorities and front proxies': when there are more, they have changed.
    if (this.#chains.size === 2) this.#chains.clear();
    const chains = certificateChains(this.#leaf, this.#intermediates, parseCertificates(authorities));
    this.#chains.set(authorities, chains);
    return chains;
  }
}
