/** What following a resource takes. */
export const READ_VERBS = ["get", "list", "watch"] as const;
/** What keeping objects as they should be takes, besides following them. */
export const WRITE_VERBS = ["create", "update", "patch", "delete"] as const;
export const DEFAULT_SUBJECT_VERBS = ["get", ...WRITE_VERBS] as const;
