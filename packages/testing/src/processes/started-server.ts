/** An API server in separate processes. */
export interface StartedServer {
  readonly url: string;
  /** `""` when the server requires none. */
  readonly token: string;
  /** Path of a kubeconfig with the server's certificate authority and unrestricted credentials. */
  readonly kubeconfig: string;
  readonly stop: () => Promise<void>;
}
