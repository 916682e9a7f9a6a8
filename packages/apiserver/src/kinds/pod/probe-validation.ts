import type { Container } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { portNameErrors, portNumberErrors } from "../../validation/formats.js";
import { addInvalid, validateNonNegative } from "../../validation/rules.js";

type Probe = NonNullable<Container["livenessProbe"]>;
type Lifecycle = NonNullable<Container["lifecycle"]>;
type Handler = Pick<Probe, "exec" | "httpGet" | "tcpSocket" | "grpc"> &
  Pick<NonNullable<Lifecycle["preStop"]>, "sleep">;

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

export function validateLifecycle(lifecycle: Lifecycle | undefined, path: string, errors: FieldErrors): void {
  if (lifecycle?.postStart) validateHandler(lifecycle.postStart, `${path}.postStart`, errors);
  if (lifecycle?.preStop) validateHandler(lifecycle.preStop, `${path}.preStop`, errors);
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

/** Exactly one action. Upstream: `validateHandler`. */
function validateHandler(handler: Handler, path: string, errors: FieldErrors): void {
  let isFirst = true;
  for (const action of ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const) {
    if (!handler[action]) continue;
    if (isFirst) validateAction(handler, action, `${path}.${action}`, errors);
    else errors.forbidden(`${path}.${action}`, "may not specify more than 1 handler type");
    isFirst = false;
  }
  if (isFirst) errors.required(path, "must specify a handler type");
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
