export { createApiServer } from "./api-server.js";
export { ApiError, statusError } from "./api-error.js";
export { builtInResource, standardVerbs } from "./built-in-resource.js";
export { FieldErrors } from "./field-errors.js";
export { isLoopbackHost, parseHost } from "./http-guard.js";
export { MAX_NESTING, isNestedDeeper } from "./nesting.js";
export { SnapshotError } from "./storage/store.js";

export type { ApiServer, ApiServerOptions, PathAnswer, PathHandler } from "./api-server.js";
export type { AuditListener, AuditRecord } from "./audit.js";
export type { AuthenticationOptions } from "./authentication/authenticator.js";
export type { TokenUser } from "./authentication/static-tokens.js";
export type { AccessAttributes, AccessDecision, UserInfo } from "./authorization/authorizer.js";
export type { BuiltInResource, ResourceVerb, ResourceView } from "./built-in-resource.js";
export type { FieldError, FieldErrorType } from "./field-errors.js";
export type { HttpListener, ListenOptions, TlsOptions } from "./http-listener.js";
export type { VersionInfo } from "./non-resource.js";
export type { StoreSnapshot } from "./storage/store.js";
export type {
  CreateContext,
  ResourceStrategy,
  TableCell,
  TableColumn,
  TablePrinter,
  TableRowCondition,
} from "./strategy.js";
