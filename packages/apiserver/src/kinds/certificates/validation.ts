import type { CertificateSigningRequest } from "@kubewright/api";
import { byteLength, dnsLabelErrors, dnsSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { jsonEqual } from "../../json.js";
import { addInvalid, validateChoice, validateSupported, validateUnique } from "../../validation/rules.js";

type Condition = NonNullable<NonNullable<CertificateSigningRequest["status"]>["conditions"]>[number];

const USAGES = [
  ["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"],
  ["decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"],
  ["ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"],
  ["server auth", "signing", "timestamping"],
].flat();
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";
const MIN_EXPIRATION_SECONDS = 600;
const MAX_DOMAIN_BYTES = 253;
const MAX_SIGNER_BYTES = 253 + 63 + 1 + 253 + 1;
const STATUSES = ["False", "True", "Unknown"];
/** Conditions whose only permitted status is `True`. */
const TRUE_ONLY_CONDITIONS = ["Approved", "Denied", "Failed"];

/**
 * Validates a request. Of the certificate request, only the encoding is checked; upstream also verifies the signature.
 *
 * Upstream: `pkg/apis/certificates/validation`.
 */
export function validateSigningRequest({ spec, status }: CertificateSigningRequest, errors: FieldErrors): void {
  const { request, usages = [], signerName, expirationSeconds } = spec;
  const requestProblem = requestError(request ?? "");
  if (requestProblem !== undefined) errors.invalid("spec.request", request ?? null, requestProblem);
  if (usages.length === 0) errors.required("spec.usages");
  for (const [index, usage] of usages.entries()) validateSupported(usage, USAGES, `spec.usages[${index}]`, errors);
  for (const [index, usage] of usages.entries())
    if (usages.indexOf(usage) < index) errors.duplicate(`spec.usages[${index}]`, usage);
  if (signerName === LEGACY_SIGNER)
    errors.invalid("spec.signerName", signerName, "the legacy signerName is not allowed via this API version");
  else validateSignerName(signerName, errors);
  if (expirationSeconds !== undefined && expirationSeconds < MIN_EXPIRATION_SECONDS)
    errors.invalid(
      "spec.expirationSeconds",
      expirationSeconds,
      "may not specify a duration less than 600 seconds (10 minutes)",
    );
  validateConditions(status?.conditions ?? [], errors);
  const certificateProblem = certificateError(status?.certificate ?? "");
  if (certificateProblem !== undefined) errors.invalid("status.certificate", "<certificate data>", certificateProblem);
}

/**
 * Validates an update.
 *
 * @param endpoint - The updated endpoint. Each endpoint permits different changes.
 */
export function validateChange(
  request: CertificateSigningRequest,
  stored: CertificateSigningRequest,
  endpoint: "main" | "status" | "approval",
  errors: FieldErrors,
): void {
  validateSigningRequest(request, errors);
  const field = "status.conditions";
  for (const type of TRUE_ONLY_CONDITIONS) {
    const ofType = ({ status }: CertificateSigningRequest): Condition[] =>
      (status?.conditions ?? []).filter((condition) => condition.type === type);
    const before = ofType(stored);
    const after = ofType(request);
    const mayAdd = type === "Failed" ? endpoint !== "main" : endpoint === "approval";
    if (after.length < before.length)
      errors.forbidden(field, `updates may not remove a condition of type ${JSON.stringify(type)}`);
    else if (after.length > before.length) {
      if (!mayAdd) errors.forbidden(field, `updates may not add a condition of type ${JSON.stringify(type)}`);
    } else if (type !== "Failed" && !jsonEqual(before, after))
      errors.forbidden(field, `updates may not modify a condition of type ${JSON.stringify(type)}`);
  }
  const certificate = stored.status?.certificate ?? "";
  if ((request.status?.certificate ?? "") === certificate) return;
  if (endpoint !== "status") errors.forbidden("status.certificate", "updates may not set certificate content");
  else if (certificate !== "")
    errors.forbidden("status.certificate", "updates may not modify existing certificate content");
}

function validateConditions(conditions: readonly Condition[], errors: FieldErrors): void {
  const types = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    const at = `status.conditions[${index}]`;
    if (type === "") errors.required(`${at}.type`);
    const allowed = TRUE_ONLY_CONDITIONS.includes(type) ? ["True"] : STATUSES;
    validateChoice(status, allowed, `${at}.status`, errors);
    if ((type === "Approved" && types.has("Denied")) || (type === "Denied" && types.has("Approved")))
      errors.invalid(`${at}.type`, type, "Approved and Denied conditions are mutually exclusive");
    validateUnique(type, types, `${at}.type`, errors);
  }
}

/** Upstream: `ValidateSignerName`. */
function validateSignerName(name: string, errors: FieldErrors): void {
  const field = "spec.signerName";
  if (name === "") {
    errors.required(field);
    return;
  }
  const [domain = "", path = "", extra] = name.split("/");
  if (!name.includes("/") || extra !== undefined) {
    errors.invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (byteLength(domain) > MAX_DOMAIN_BYTES) errors.tooLong(field, MAX_DOMAIN_BYTES);
  const labels = domain.split(".");
  for (const label of labels) addInvalid(errors, field, domain, labelErrors(label, dnsLabelErrors(label)));
  if (labels.length < 2)
    errors.invalid(field, domain, "should be a domain with at least two segments separated by dots");
  for (const label of path.split(".")) addInvalid(errors, field, path, labelErrors(label, dnsSubdomainErrors(label)));
  if (byteLength(name) > MAX_SIGNER_BYTES) errors.tooLong(field, MAX_SIGNER_BYTES);
}

function labelErrors(label: string, sentences: readonly string[]): string[] {
  return sentences.map((sentence) => `validating label ${JSON.stringify(label)}: ${sentence}`);
}

/** @param request - PEM in base64. */
function requestError(request: string): string | undefined {
  const [block] = pemBlocks(request);
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  return isSequence(block.bytes) ? undefined : "asn1: syntax error: data truncated";
}

function certificateError(certificate: string): string | undefined {
  if (certificate === "") return undefined;
  const blocks = pemBlocks(certificate);
  if (blocks.length === 0) return "must contain one or more PEM blocks";
  const other = blocks.find(({ type }) => type !== "CERTIFICATE");
  return other === undefined
    ? undefined
    : `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(other.type)}`;
}

/** @param base64 - The bytes in base64, as in the API. */
function pemBlocks(base64: string): { readonly type: string; readonly bytes: string }[] {
  const text = atob(base64);
  const blocks = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----/g);
  return [...blocks].map(([, type = "", body = ""]) => ({ type, bytes: decodeBase64(body) }));
}

/** Decodes base64; `""` when the text is invalid. */
function decodeBase64(body: string): string {
  const text = body.replaceAll(/\s/g, "");
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? atob(text) : "";
}

/** Whether the bytes are one ASN.1 sequence with the declared length. */
function isSequence(bytes: string): boolean {
  if (bytes.charCodeAt(0) !== 0x30) return false;
  const first = bytes.charCodeAt(1);
  const more = first >= 0x80 ? first - 0x80 : 0;
  let length = more === 0 ? first : 0;
  for (let index = 0; index < more; index++) length = length * 256 + bytes.charCodeAt(2 + index);
  return bytes.length === 2 + more + length;
}
