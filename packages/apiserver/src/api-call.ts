import type { ApiRequest } from "@kubewright/transport";

import type { Query } from "./query.js";
import type { Write } from "./registry/write.js";
import type { Transform } from "./transform.js";

/** One request for a resource, while it is served. */
export interface ApiCall extends Write {
  readonly request: ApiRequest;
  readonly query: Query;
  readonly userAgent: string;
  /** How the client wants objects to look. */
  readonly transform: Transform | undefined;
}
