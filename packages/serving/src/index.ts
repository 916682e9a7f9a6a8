export { DEFAULT_CIPHERS } from "./ciphers.js";
export { ClientCertificates, type ClientCertificate } from "./client-certificates.js";
export { ConnectionLimiter } from "./connection-limiter.js";
export { parseCertificates } from "./pem.js";
