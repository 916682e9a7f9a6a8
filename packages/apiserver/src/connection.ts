import type { ApiRequest, ApiResponse } from "@kubewright/transport";

import type { ApiError } from "./api-error.js";
import type { ClientCertificate } from "./authentication/authenticator.js";
import type { Reply } from "./reply.js";

/** The connection of a request that comes from another process. */
export interface Connection {
  /** The request's `Host` header. */
  readonly host: string;
  readonly certificate: ClientCertificate | undefined;
  /** Returns the error for a request without credentials. Called before the body is read. */
  readonly refusal: () => ApiError | undefined;
  /** Reads the request's body. The server calls it only after authentication. */
  readonly readBody: () => Promise<Uint8Array | undefined>;
}

/** The server's side of a listener: answers requests of connections. After a handover it calls the successor server. */
export interface Listener {
  /** Never rejects. */
  readonly answer: (request: ApiRequest, connection: Connection) => Promise<Reply | ApiResponse>;
  /** The server's time, in epoch milliseconds. */
  readonly now: () => number;
}
