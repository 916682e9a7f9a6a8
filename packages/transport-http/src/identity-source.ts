/** The credentials of a request. The same object as long as the credentials are unchanged. */
export interface Identity {
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface IdentitySource {
  /** Returns the current credentials; a promise only if they have to be read. */
  current(): Identity | Promise<Identity>;
  /** Called when the server responded to these credentials with 401. */
  rejected?(identity: Identity): void;
  /** Called when the credentials are no longer needed. */
  close?(): void;
}
