import type { HttpHandler } from "./http-message.js";

/** A certificate and its private key, in PEM. */
export interface ServingIdentity {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for other host names (SNI). */
export interface NamedIdentity {
  /** In lower case; `*.` matches one label. Empty: the names in the certificate. */
  readonly names: readonly string[];
  readonly identity: ServingIdentity;
}

export interface ListenOptions {
  /** `0.0.0.0` and `::` both mean all addresses of both families. */
  readonly address: string;
  /** 0 selects any free port; the caller decides whether to listen at all. */
  readonly port: number;
  readonly identity: ServingIdentity;
  /** Whether to request client certificates. Clients without one are accepted. */
  readonly requestClientCertificates: boolean;
  /** Node's names. Defaults: TLS 1.2, and `DEFAULT_CIPHERS`. */
  readonly minVersion?: TlsVersion | undefined;
  readonly ciphers?: string | undefined;
}

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/** An open HTTPS port. */
export interface SecureListener {
  /** Listen address in Go's form: `[::]:10257`. */
  readonly address: string;
  readonly port: number;
  /** Starts to answer requests. Earlier requests have waited for this call. */
  serve(handler: HttpHandler): void;
  /**
   * Sets the default certificate of new connections.
   *
   * @throws Error when certificate and key do not match.
   */
  setIdentity(identity: ServingIdentity): void;
  /** Sets the certificates for other host names; the first match is used. Otherwise like {@link setIdentity}. */
  setNamedIdentities(identities: readonly NamedIdentity[]): void;
  /**
   * Sets the authorities of client certificates, in PEM, for new connections.
   *
   * @throws Error when one of them cannot be parsed; the previous ones stay in use then.
   */
  setClientAuthorities(authorities: readonly string[]): void;
  /** Closes the port and all connections. */
  close(): Promise<void>;
}

/**
 * Opens a port.
 *
 * @throws Error with the message of Go's `net.Listen` when the port cannot be opened.
 */
export type ListenSecurely = (options: ListenOptions) => Promise<SecureListener>;
