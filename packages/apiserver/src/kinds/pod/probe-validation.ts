import type { Container } from "@kubewright/api";
import { portNameErrors, portNumberErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid, validateNonNegative } from "../../validation/rules.js";

type Probe = NonNullable<Container["livenessProbe"]>;
type Lifecycle = NonNullable<Container["lifecycle"]>;
type Handler = Pick<Probe, "exec" | "httpGet" | "tcpSocket" | "grpc"> &
  Pick<NonNullable<Lifecycle["preStop"]>, "sleep">;

const ACTIONS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

/** Upstream: `validateLivenessProbe`, `validateReadinessProbe`, `validateStartupProbe`. */
export function validateProbes(
  { livenessProbe, readinessProbe, startupProbe }: Container,
  path: string,
  errors: FieldErrors,
): void {
  if (livenessProbe) {
    validateProbe(livenessProbe, `${path}.livenessProbe`, errors);
    validateSingleSuccess(livenessProbe, `${path}.livenessProbe`, errors);
  }
  if (readinessProbe) {
    validateProbe(readinessProbe, `${path}.readinessProbe`, errors);
    const period = readinessProbe.terminationGracePeriodSeconds;
    if (period !== undefined) {
      errors.invalid(
        `${path}.readinessProbe.terminationGracePeriodSeconds`,
        period,
        "must not be set for readinessProbes",
      );
    }
  }
  if (startupProbe) {
    validateProbe(startupProbe, `${path}.startupProbe`, errors);
    validateSingleSuccess(startupProbe, `${path}.startupProbe`, errors);
  }
}

/** @param graceSeconds - The termination grace period of the pod. */
export function validateLifecycle(
  lifecycle: Lifecycle | undefined,
  graceSeconds: number | undefined,
  path: string,
  errors: FieldErrors,
): void {
  for (const field of ["postStart", "preStop"] as const) {
    const handler = lifecycle?.[field];
    if (handler === undefined) continue;
    validateHandler(handler, `${path}.${field}`, errors);
    if (actionOf(handler) === "sleep") validateSleep(handler, graceSeconds, `${path}.${field}.sleep`, errors);
  }
}

function validateSleep({ sleep }: Handler, graceSeconds: number | undefined, field: string, errors: FieldErrors): void {
  const seconds = sleep?.seconds ?? 0;
  if (graceSeconds === undefined || (seconds >= 0 && seconds <= graceSeconds)) return;
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
  errors.invalid(field, seconds, detail);
}

function validateProbe(probe: Probe, path: string, errors: FieldErrors): void {
  validateHandler(probe, path, errors);
  for (const field of [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ] as const) {
    validateNonNegative(probe[field], `${path}.${field}`, errors);
  }
  const period = probe.terminationGracePeriodSeconds;
  if (period !== undefined && period <= 0)
    errors.invalid(`${path}.terminationGracePeriodSeconds`, period, "must be greater than 0");
}

function validateSingleSuccess({ successThreshold }: Probe, path: string, errors: FieldErrors): void {
  if (successThreshold !== 1) errors.invalid(`${path}.successThreshold`, successThreshold ?? 0, "must be 1");
}

/** Validates that a handler has exactly one action. Upstream: `validateHandler`. */
function validateHandler(handler: Handler, path: string, errors: FieldErrors): void {
  const first = actionOf(handler);
  if (first === undefined) return errors.required(path, "must specify a handler type");
  validateAction(handler, first, `${path}.${first}`, errors);
  for (const action of ACTIONS)
    if (handler[action] && action !== first)
      errors.forbidden(`${path}.${action}`, "may not specify more than 1 handler type");
}

/** Returns the first action that is set. */
function actionOf(handler: Handler): keyof Handler | undefined {
  return ACTIONS.find((action) => handler[action]);
}

function validateAction(
  { exec, httpGet, tcpSocket, grpc }: Handler,
  action: keyof Handler,
  path: string,
  errors: FieldErrors,
): void {
  if (action === "exec" && (exec?.command?.length ?? 0) === 0) errors.required(`${path}.command`);
  if (action === "httpGet" && httpGet) {
    if (!httpGet.path) errors.required(`${path}.path`);
    validatePort(httpGet.port, `${path}.port`, errors);
    const { scheme = "" } = httpGet;
    if (scheme !== "HTTP" && scheme !== "HTTPS") errors.notSupported(`${path}.scheme`, scheme, ["HTTP", "HTTPS"]);
    for (const { name } of httpGet.httpHeaders ?? []) {
      if (!/^[-A-Za-z0-9]+$/.test(name)) {
        const detail =
          "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
        errors.invalid(`${path}.httpHeaders`, name, detail);
      }
    }
  }
  if (action === "tcpSocket" && tcpSocket) validatePort(tcpSocket.port, `${path}.port`, errors);
  if (action === "grpc" && grpc) addInvalid(errors, `${path}.port`, grpc.port, portNumberErrors(grpc.port));
}

function validatePort(port: number | string, field: string, errors: FieldErrors): void {
  addInvalid(errors, field, port, typeof port === "number" ? portNumberErrors(port) : portNameErrors(port));
}
