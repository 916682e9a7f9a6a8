import type { ResourceAttributes } from "./request-info.js";

/**
 * One served request, for the audit stream and request metrics. All {@link ResourceAttributes} are `""` when the path
 * is no resource of this server.
 */
export interface AuditRecord extends ResourceAttributes {
  /** `get`, `list`, `watch`, `create`…; the lower-case HTTP method for a non-resource path. */
  readonly verb: string;
  /** Path and query as the client sent them. */
  readonly path: string;
  readonly code: number;
  readonly userAgent: string;
  /** Name of the user that the request ran as; `""` when the request was refused before authentication. */
  readonly user: string;
  /** Time of the response, in epoch milliseconds of the server's clock. */
  readonly atMs: number;
  /**
   * Milliseconds of the server's clock from the request's arrival until its response, or a watch's stream, was ready.
   */
  readonly durationMs: number;
  /**
   * Audit annotations of admission, with the keys of upstream's audit events: `policy/key`, `webhook.name/key`. Absent
   * when empty.
   */
  readonly annotations?: Readonly<Record<string, string>>;
}

export type AuditListener = (record: AuditRecord) => void;
