/**
 * Default cipher suites in OpenSSL's names: for TLS 1.3 Node's own suites, for TLS 1.2 ECDHE with AES-GCM or
 * ChaCha20-Poly1305. Node's defaults also include CBC, SHA-1 and RSA key exchange.
 *
 * Stricter than Go, whose defaults still end with ECDHE with AES-CBC and SHA-1.
 *
 * @see crypto/tls/cipher_suites.go in Go
 */
export const DEFAULT_CIPHERS = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");
