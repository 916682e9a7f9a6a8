import type { ListenSecurely, ServingIdentity } from "./secure-listener.js";

/** Sockets, files and cryptography for serving. */
export interface ServingIo {
  readonly listen: ListenSecurely;
  /** @throws Error with the name of the file. */
  readonly readFile: (path: string) => Promise<string>;
  /** Creates missing directories. With `isPrivate` only the owner may read the file. */
  readonly writeFile: (path: string, text: string, options?: { readonly isPrivate?: boolean }) => Promise<void>;
  /** Generates a certificate valid from one hour ago, for one year. */
  readonly selfSigned: (hosts: readonly string[], nowMs: number) => Promise<ServingIdentity>;
  /** @throws Error with the reason why certificate and key cannot be used. */
  readonly checkIdentity: (identity: ServingIdentity) => void;
  /** Hash by which texts are compared without storing them. */
  readonly hash: (text: string) => string;
}
