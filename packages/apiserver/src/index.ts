export { jsonPatchOf } from "./admission/admission-review.js";
export { createApiServer } from "./api-server.js";
export { ApiError, statusError } from "./api-error.js";
export { builtInResource, standardVerbs } from "./built-in-resource.js";
export { defaultFeatureGates } from "./feature-gates.js";
export { FieldErrors } from "./field-errors.js";
export { builtInResources } from "./kinds/index.js";
export { specAndStatus } from "./kinds/spec-and-status.js";
export { MAX_NESTING, isNestedDeeper } from "./nesting.js";
export { textReply, valueReply } from "./reply.js";
export { describeRequest } from "./request-info.js";
export { SnapshotError } from "./storage/store.js";
export { inProcessWebhooks } from "./webhooks/in-process-webhooks.js";

export type { AdmissionRequest, AdmissionResponse, AdmissionReview } from "./admission/admission-review.js";
export type { ApiCall, Handler, Handlers } from "./api-call.js";
export type { ApiServer, StoreChange } from "./api-server.js";
export type { ApiServerOptions, PathResponse, PathHandler } from "./api-server-options.js";
export type { AuditListener, AuditRecord } from "./audit.js";
export type { AuthenticationOptions } from "./authentication/authenticator.js";
export type { SigningKey } from "./authentication/json-web-token.js";
export type { TokenUser } from "./authentication/static-tokens.js";
export type { AccessAttributes, AccessDecision, RequestUser } from "./authorization/authorizer.js";
export type { BuiltInResource, BuiltInSubresource, ResourceVerb } from "./built-in-resource.js";
export type { ContainerLogOptions, ContainerLogs } from "./container-logs.js";
export type { Connection, Listener } from "./connection.js";
export type { ServerFeatureGates } from "./feature-gates.js";
export type { FieldError, FieldErrorType } from "./field-errors.js";
export type { AdmissionAttributes, AdmissionPlugin, GroupVersionKind } from "./registry/admission.js";
export type { DeferralOptions, DeferredRenewals, LeaseRenewal, LeaseRenewals } from "./lease-renewals.js";
export type { Reply } from "./reply.js";
export type { RequestInfo, ResourceAttributes } from "./request-info.js";
export type { ScalePaths } from "./scale-paths.js";
export type { VersionInfo } from "./non-resource.js";
export type { TypeDeclarations } from "./schema/type-declarations.js";
export type { Remover, ResourceView } from "./served-resource.js";
export type { ShardMetrics } from "./shard-metrics.js";
export type { StoreSnapshot } from "./storage/store.js";
export type {
  CreateContext,
  ResourceStrategy,
  TableCell,
  TableColumn,
  TablePrinter,
  TableRowCondition,
  UpdateStrategy,
} from "./strategy.js";
export type { ConversionHandler, WebhookHandler } from "./webhooks/in-process-webhooks.js";
export type { WebhookResponse, WebhookCall, WebhookCaller } from "./webhooks/webhook-call.js";
