import type { Client } from "@kubewright/client";

import type { Io } from "../io.js";
import { UserError } from "../user-error.js";

export interface ConnectOptions {
  /** Default: the files of `KUBECONFIG`, or `$HOME/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context. */
  readonly context?: string | undefined;
  readonly userAgent: string;
}

/** A cluster to ask. */
export interface Connection {
  readonly client: Client;
  /** The context's namespace. */
  readonly namespace: string;
  /** The time the server gave with its latest answer, in epoch milliseconds: the cluster's clock, to the second. */
  readonly serverTimeMs: () => number | undefined;
  readonly close: () => Promise<void>;
}

/** @throws UserError where there is no network, and for a kubeconfig that is missing or does not say how. */
export async function connectThrough(io: Pick<Io, "connect">, options: ConnectOptions): Promise<Connection> {
  if (io.connect === undefined) throw new UserError("there is no cluster to be reached from here");
  return io.connect(options);
}
