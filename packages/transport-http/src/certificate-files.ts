import { readFile } from "node:fs/promises";

import type { Clock } from "@kubewright/clock";

import type { Identity, IdentitySource } from "./identity-source.js";
import { checkKeyPair } from "./tls-options.js";

const REREAD_INTERVAL_MS = 60_000;

/** The files of a client certificate and its private key, and their initial contents. All in PEM. */
export interface CertificateFilesOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
  /** Source of the other credentials. */
  readonly inner: IdentitySource;
  readonly clock: Clock;
}

/**
 * A client certificate that another program keeps up to date in two files. The files are read again every minute, and
 * as soon as the server rejects their contents.
 *
 * If the files cannot be read, or do not match because only one has been replaced yet, the last valid pair stays in
 * use. Upstream: client-go `transport/cert_rotation.go`.
 */
export class CertificateFiles implements IdentitySource {
  readonly #files: Pick<CertificateFilesOptions, "certFile" | "keyFile">;
  readonly #inner: IdentitySource;
  readonly #clock: Clock;
  #pair: { readonly cert: string; readonly key: string };
  #identity: Identity | undefined;
  #innerIdentity: Identity | undefined;
  #freshUntilMs: number;
  #reading: Promise<Identity> | undefined;

  constructor({ certFile, keyFile, cert, key, inner, clock }: CertificateFilesOptions) {
    this.#files = { certFile, keyFile };
    this.#pair = { cert, key };
    this.#inner = inner;
    this.#clock = clock;
    this.#freshUntilMs = clock.monotonic() + REREAD_INTERVAL_MS;
  }

  current(): Identity | Promise<Identity> {
    const inner = this.#inner.current();
    if (!(inner instanceof Promise) && this.#clock.monotonic() < this.#freshUntilMs) return this.#combine(inner);
    this.#reading ??= this.#read(inner).finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  rejected(identity: Identity): void {
    if (identity !== this.#identity) return;
    this.#freshUntilMs = -Infinity;
    if (this.#innerIdentity !== undefined) this.#inner.rejected?.(this.#innerIdentity);
  }

  close(): void {
    this.#inner.close?.();
  }

  async #read(inner: Identity | Promise<Identity>): Promise<Identity> {
    if (this.#clock.monotonic() >= this.#freshUntilMs) {
      const { certFile, keyFile } = this.#files;
      try {
        const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
        const changed = cert !== this.#pair.cert || key !== this.#pair.key;
        if (changed) {
          checkKeyPair(cert, key);
          this.#pair = { cert, key };
          this.#identity = undefined;
        }
        this.#freshUntilMs = this.#clock.monotonic() + REREAD_INTERVAL_MS;
      } catch {
        // The files are being replaced. The next request reads them again.
      }
    }
    return this.#combine(await inner);
  }

  #combine(inner: Identity): Identity {
    if (this.#identity === undefined || this.#innerIdentity !== inner) {
      this.#innerIdentity = inner;
      this.#identity = { ...inner, ...this.#pair };
    }
    return this.#identity;
  }
}
