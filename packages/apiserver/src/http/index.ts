export { callWebhook } from "./call-webhook.js";
export { isLoopbackHost, parseHost } from "./cross-origin-guard.js";
export { listen } from "./listen.js";
export { signingKey } from "./signing-key.js";

export type { HttpListener, ListenOptions, TlsOptions } from "./listen.js";
