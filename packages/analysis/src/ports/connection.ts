import type { Client } from "@kubewright/client";

import { UserError } from "../errors/user-error.js";

export interface ConnectOptions {
  /** Default: the files of `KUBECONFIG`, or `$HOME/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  readonly userAgent: string;
}

/** ClusterConnection to a cluster. */
export interface ClusterConnection {
  readonly client: Client;
  /** The context's namespace. */
  readonly namespace: string;
  /** Returns the time of the server's latest response in epoch milliseconds, with a resolution of a second. */
  readonly serverTimeMs: () => number | undefined;
  readonly close: () => Promise<void>;
}

/** @throws UserError without a network, and for a missing or incomplete kubeconfig. */
export async function connectThrough(
  io: { readonly connect?: (options: ConnectOptions) => Promise<ClusterConnection> },
  options: ConnectOptions,
): Promise<ClusterConnection> {
  if (io.connect === undefined) throw new UserError("there is no cluster to be reached from here");
  return io.connect(options);
}
