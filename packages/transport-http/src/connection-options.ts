/**
 * The address of an API server, and the client's credentials. All fields are plain data: files are read only for the
 * fields that name files.
 */
export interface ConnectionOptions {
  /**
   * URL of the API server. Its path is put before the path of every request. Without a scheme, the scheme is `https` if
   * `ca`, `cert` or `insecureSkipTlsVerify` is given, else `http` (client-go `rest.DefaultServerURL`).
   */
  readonly server: string;
  /** PEM of the trusted certificate authorities of the server. Default: those that Node trusts. */
  readonly ca?: string | undefined;
  /** PEM of the client certificate and its private key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Files of `cert` and `key`. They are read again after a minute, or when the server rejects the certificate. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Name for SNI and for the verification of the server's certificate. Default: the host of the URL. */
  readonly serverName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** `http:`, `https:` or `socks5:` URL. Default: none; environment variables are not used. */
  readonly proxyUrl?: string | undefined;
  /** Bearer token. With `tokenFile`: the token until the file has been read once. */
  readonly token?: string | undefined;
  /** File with a bearer token. It is read again after a minute, or when the server rejects the token. */
  readonly tokenFile?: string | undefined;
  /** Basic authentication. Cannot be combined with a token. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Credential plugin. Used only if none of the fields above provides credentials. */
  readonly exec?: ExecPlugin | undefined;
  readonly impersonate?: Impersonation | undefined;
}

/** The user to impersonate. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A program that prints an `ExecCredential` (client.authentication.k8s.io). It gets no standard input. */
export interface ExecPlugin {
  /** `client.authentication.k8s.io/v1` or `…/v1beta1`, for the plugin's input and output. */
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to this process's environment. */
  readonly env?: readonly { readonly name: string; readonly value: string }[] | undefined;
  /** Part of the error message if the program is missing. */
  readonly installHint?: string | undefined;
  /** Whether the plugin gets the cluster's connection data. Default false. */
  readonly provideClusterInfo?: boolean | undefined;
  /** Additional cluster configuration for the plugin, with `provideClusterInfo`. */
  readonly clusterConfig?: unknown;
  /** The plugin's use of standard input. A plugin that requires it (`Always`) fails. Default `Never`. */
  readonly interactiveMode?: "Never" | "IfAvailable" | "Always" | undefined;
}
