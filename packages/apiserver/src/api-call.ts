import type { ApiRequest } from "@kubewright/transport";

import type { Query } from "./query.js";
import type { Write } from "./registry/write.js";
import type { Reply } from "./reply.js";
import type { Verb } from "./route.js";
import type { ServerState } from "./server-state.js";
import type { Transform } from "./transform.js";

/** One resource request while the server handles it. */
export interface ApiCall extends Write {
  readonly server: ServerState;
  readonly request: ApiRequest;
  readonly query: Query;
  readonly userAgent: string;
  /** Shape of the objects in the response that the client asked for, such as `Table`. */
  readonly transform: Transform | undefined;
}

/** Serves one verb of a resource or a subresource. */
export type Handler = (call: ApiCall) => Reply | Promise<Reply>;
export type Handlers = Readonly<Partial<Record<Verb, Handler>>>;
