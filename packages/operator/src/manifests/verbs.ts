/** Verbs for caching a resource. */
export const READ_VERBS = ["get", "list", "watch"] as const;
/** Further verbs for writing a resource. */
export const WRITE_VERBS = ["create", "update", "patch", "delete"] as const;
export const DEFAULT_SUBJECT_VERBS = ["get", ...WRITE_VERBS] as const;
