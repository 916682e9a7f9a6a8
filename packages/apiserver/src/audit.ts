import type { ResourceAttributes } from "./request-info.js";

/**
 * One request as it was served: the audit stream, and what request metrics are made of. All of its {@link ResourceAttributes}
 * are `""` for what is no resource of this server.
 */
export interface AuditRecord extends ResourceAttributes {
  /** `get`, `list`, `watch`, `create`…; the lower-case HTTP method for what is no resource. */
  readonly verb: string;
  /** Path and query, as they were sent. */
  readonly path: string;
  readonly code: number;
  readonly userAgent: string;
  /** Whom the request was served for; `""` for one that was refused before that was known. */
  readonly user: string;
  /** When the answer was ready, in epoch milliseconds of the server's clock. */
  readonly atMs: number;
  /** From the request's arrival until its answer, or for a watch its stream, was ready: milliseconds of the server's clock. */
  readonly durationMs: number;
  /** What admission noted of it, under the keys that upstream's audit events have: `policy/key`, `webhook.name/key`. Absent: nothing. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export type AuditListener = (record: AuditRecord) => void;
