/** Where an API server is, and who to be there. Everything is data: nothing is read from files except where a field says so. */
export interface ConnectionOptions {
  /**
   * URL of the API server. A path in it is put before the path of every request. Without a scheme it is `https` when `ca`,
   * `cert` or `insecureSkipTlsVerify` is given, else `http` (client-go `rest.DefaultServerURL`).
   */
  readonly server: string;
  /** PEM of the authorities that may have signed the server's certificate. Default: the ones Node trusts. */
  readonly ca?: string | undefined;
  /** PEM of the client certificate and its private key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Files that `cert` and `key` came from, read again when they are a minute old or the server refused them. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Name to ask for (SNI) and to find in the server's certificate. Default: the host of the URL. */
  readonly serverName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** `http:`, `https:` or `socks5:` URL. Default: none; the environment is not asked. */
  readonly proxyUrl?: string | undefined;
  /** Bearer token. Also what is used until `tokenFile` could be read once. */
  readonly token?: string | undefined;
  /** File holding a bearer token, read again when it is a minute old or the server refused it. */
  readonly tokenFile?: string | undefined;
  /** Basic authentication; not together with a token. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Credential plugin; used only when nothing above says who we are. */
  readonly exec?: ExecPlugin | undefined;
  readonly impersonate?: Impersonation | undefined;
}

/** The user a request is made for, when it is not the one it is made by. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A program that prints an `ExecCredential` (client.authentication.k8s.io), run without standard input. */
export interface ExecPlugin {
  /** `client.authentication.k8s.io/v1` or `…/v1beta1`, for what it is told and what it prints. */
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to this process's own environment. */
  readonly env?: readonly { readonly name: string; readonly value: string }[] | undefined;
  /** Told to people who do not have the program. */
  readonly installHint?: string | undefined;
  /** Whether it is told which cluster it is for. Default false. */
  readonly provideClusterInfo?: boolean | undefined;
  /** What else it is told about the cluster, with `provideClusterInfo`. */
  readonly clusterConfig?: unknown;
  /** What it does with standard input. One that needs it (`Always`) fails. Default `Never`. */
  readonly interactiveMode?: "Never" | "IfAvailable" | "Always" | undefined;
}
