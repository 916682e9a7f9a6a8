/** An API server in processes of its own. */
export interface StartedServer {
  readonly url: string;
  /** `""`: it asks for none. */
  readonly token: string;
  /** A kubeconfig for it, with its authority and credentials that may do everything. */
  readonly kubeconfig: string;
  readonly stop: () => Promise<void>;
}
