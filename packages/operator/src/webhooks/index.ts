export { mutatingWebhook, validatingWebhook } from "./admission-webhook.js";
export { webhooksInProcess } from "./answer-call.js";
export { webhookConfigurations } from "./configurations.js";
export { conversionWebhook } from "./conversion-webhook.js";
export { publishWebhooks } from "./publish-webhooks.js";
export { certificateFiles, ownCertificate, sharedCertificate } from "./server/certificate-source.js";
export { serveWebhooks } from "./server/serve-webhooks.js";
export { Verdict, allow, deny } from "./verdict.js";
export { ReviewError } from "./webhook.js";

export type {
  AdmissionReview,
  ConversionResponse,
  ConversionReview,
  ReviewResponse,
  AdmissionRequest,
  UserInfo,
} from "./admission-review.js";
export type { WebhookRequest, MutatingHandler, ValidatingHandler } from "./admission-webhook.js";
export type { CallAnswer } from "./answer-call.js";
export type { WebhookConfigurationOptions, WebhookConfigurations, WebhookPlace } from "./configurations.js";
export type { ConversionWebhook } from "./conversion-webhook.js";
export type { PublishOptions } from "./publish-webhooks.js";
export type { WebhookCertificate } from "./server/certificate.js";
export type { CertificateSource } from "./server/certificate-source.js";
export type { ServeWebhooksOptions, ServedWebhooks } from "./server/serve-webhooks.js";
export type { DenyOptions } from "./verdict.js";
export type { AdmissionOperation, AdmissionOptions, Webhook } from "./webhook.js";
