import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import type { ApiError } from "./api-error.js";
import type { ClientCertificate } from "./authentication/authenticator.js";
import type { Reply } from "./reply.js";

/** Where a request comes from that somebody else than this process sends. */
export interface Connection {
  /** The request's `Host`. */
  readonly host: string;
  readonly certificate: ClientCertificate | undefined;
  /** Why the request is refused if it shows no credentials; to be asked before its body is read. */
  readonly refusal: () => ApiError | undefined;
  /** Reads the request's body, which nobody has until it is known who sends it. */
  readonly readBody: () => Promise<Uint8Array | undefined>;
}

/** A way into a server for requests of connections. Leads to another server when one takes its place. */
export interface Listener {
  /** Never rejects. */
  readonly answer: (request: ApiRequest, connection: Connection) => Promise<Reply | ApiResponse>;
  /** The server's time, in epoch milliseconds. */
  readonly now: () => number;
}
