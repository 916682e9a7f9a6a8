import type { ListenSecurely, ServingIdentity } from "./secure-listener.js";

/** What serving needs of the machine. */
export interface ServingIo {
  readonly listen: ListenSecurely;
  /** @throws Error that names the file. */
  readonly readFile: (path: string) => Promise<string>;
  /** Makes folders where there are none. `isPrivate`: for nobody else to read. */
  readonly writeFile: (path: string, text: string, options?: { readonly isPrivate?: boolean }) => Promise<void>;
  /** Makes a certificate good for a year, from an hour ago on. */
  readonly selfSigned: (hosts: readonly string[], nowMs: number) => Promise<ServingIdentity>;
  /** @throws Error that says why a certificate and its key cannot be served with. */
  readonly checkIdentity: (identity: ServingIdentity) => void;
  /** Tells texts apart without keeping them. */
  readonly hash: (text: string) => string;
}
