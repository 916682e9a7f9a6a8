import { readFile } from "node:fs/promises";

import type { Clock } from "@kubewright/clock";

import type { Identity, IdentitySource } from "./identity-source.js";

/** Tokens are valid for a minute, and read again ten seconds before its end. */
const REREAD_INTERVAL_MS = 50_000;

/**
 * A bearer token that another program keeps up to date in a file.
 *
 * The file is read again as soon as the server rejects the token; client-go waits for the end of the minute. If the
 * file cannot be read, or is empty, the last valid token stays in use. Upstream: client-go `transport/token_source.go`.
 */
export class TokenFile implements IdentitySource {
  readonly #path: string;
  readonly #clock: Clock;
  #identity: Identity | undefined;
  #freshUntilMs = -Infinity;
  #reading: Promise<Identity> | undefined;

  constructor({ path, clock, initial }: { path: string; clock: Clock; initial?: string | undefined }) {
    this.#path = path;
    this.#clock = clock;
    this.#identity = initial ? { authorization: `Bearer ${initial}` } : undefined;
  }

  /** @throws Error naming the file, if no token was ever read. */
  current(): Identity | Promise<Identity> {
    if (this.#identity !== undefined && this.#clock.monotonic() < this.#freshUntilMs) return this.#identity;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** If a token was revoked early, the file contains a new one. */
  rejected(identity: Identity): void {
    if (identity === this.#identity) this.#freshUntilMs = -Infinity;
  }

  async #read(): Promise<Identity> {
    try {
      const token = (await readFile(this.#path, "utf8")).trim();
      if (token === "") throw new Error("the file is empty");
      const authorization = `Bearer ${token}`;
      if (authorization !== this.#identity?.authorization) this.#identity = { authorization };
      this.#freshUntilMs = this.#clock.monotonic() + REREAD_INTERVAL_MS;
    } catch (error) {
      if (this.#identity === undefined) {
        throw new Error(`failed to read token file ${JSON.stringify(this.#path)}: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
    return this.#identity;
  }
}
