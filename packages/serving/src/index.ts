export { DEFAULT_CIPHERS } from "./ciphers.js";
export { ClientCertificates, type ClientCertificate } from "./client-certificates.js";
export { Connections } from "./connections.js";
export { certificatesIn } from "./pem.js";
