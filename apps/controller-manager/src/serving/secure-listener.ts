import type { HttpHandler } from "./http-message.js";

/** A certificate and its private key, in PEM. */
export interface ServingIdentity {
  readonly cert: string;
  readonly key: string;
}

/** What clients that ask for other names are shown. */
export interface NamedIdentity {
  /** In lower case; `*.` for one label. None: those in the certificate. */
  readonly names: readonly string[];
  readonly identity: ServingIdentity;
}

export interface ListenOptions {
  /** `0.0.0.0` and `::` both mean every address of both families. */
  readonly address: string;
  /** 0 is any free port here; whether to listen at all is decided before. */
  readonly port: number;
  readonly identity: ServingIdentity;
  /** Ask clients for a certificate; they need not have one. */
  readonly requestClientCertificates: boolean;
  /** As Node names them. Defaults: TLS 1.2, and `DEFAULT_CIPHERS`. */
  readonly minVersion?: TlsVersion | undefined;
  readonly ciphers?: string | undefined;
}

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/** An open port that speaks HTTPS. */
export interface SecureListener {
  /** Where it listens, as Go writes it: `[::]:10257`. */
  readonly address: string;
  readonly port: number;
  /** Answers requests, from now on; those that came earlier have waited for this. */
  serve(handler: HttpHandler): void;
  /** For connections made from now on. @throws Error when certificate and key do not fit each other. */
  setIdentity(identity: ServingIdentity): void;
  /** As {@link setIdentity}, for clients that ask for these names; the first that fits is shown. */
  setNamedIdentities(identities: readonly NamedIdentity[]): void;
  /**
   * PEM of the authorities that may have signed clients' certificates. For connections made from now on.
   *
   * @throws Error when one of them cannot be read; then those before stay.
   */
  setClientAuthorities(authorities: readonly string[]): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Opens a port. @throws Error in the words of Go's `net.Listen` when it is not to be had. */
export type ListenSecurely = (options: ListenOptions) => Promise<SecureListener>;
