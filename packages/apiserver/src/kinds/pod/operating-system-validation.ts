import type { Container, PodSpec } from "@kubewright/api";

import type { FieldErrors } from "../../field-errors.js";
import { visitContainers } from "./visit-containers.js";

const SYSTEMS = ["linux", "windows"];
/** Fields that Windows does not support, by upstream's paths and in upstream's order. */
const NOT_ON_WINDOWS = [
  "securityContext.appArmorProfile",
  "securityContext.seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "securityContext.seccompProfile",
  "securityContext.fsGroup",
  "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls",
  "shareProcessNamespace",
  "securityContext.runAsUser",
  "securityContext.runAsGroup",
  "securityContext.supplementalGroups",
  "securityContext.supplementalGroupsPolicy",
  "securityContext.seLinuxChangePolicy",
] as const;
const NOT_IN_WINDOWS_CONTAINERS: readonly (keyof NonNullable<Container["securityContext"]>)[] = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

/** Upstream: `validateOS`, `validateLinux`, `validateWindows`. */
export function validateOperatingSystem(spec: PodSpec, path: string, errors: FieldErrors): void {
  const { os } = spec;
  if (os === undefined) return;
  if (!os.name) errors.required(`${path}.os.name`);
  else if (!SYSTEMS.includes(os.name)) errors.notSupported(`${path}.os`, os.name, SYSTEMS);
  else if (os.name === "linux") validateLinux(spec, path, errors);
  else validateWindows(spec, path, errors);
}

function validateLinux(spec: PodSpec, path: string, errors: FieldErrors): void {
  const detail = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions !== undefined)
    errors.forbidden(`${path}.securityContext.windowsOptions`, detail);
  visitContainers(spec, path, ({ securityContext }, at) => {
    if (securityContext?.windowsOptions !== undefined) errors.forbidden(`${at}.securityContext.windowsOptions`, detail);
  });
}

function validateWindows(spec: PodSpec, path: string, errors: FieldErrors): void {
  const detail = "cannot be set for a windows pod";
  for (const field of NOT_ON_WINDOWS) if (isSet(spec, field)) errors.forbidden(`${path}.${field}`, detail);
  visitContainers(spec, path, ({ securityContext }, at) => {
    for (const field of NOT_IN_WINDOWS_CONTAINERS)
      if (securityContext?.[field] !== undefined) errors.forbidden(`${at}.securityContext.${field}`, detail);
  });
}

/** Whether the field is set. A boolean that is false by default counts as set only when true. */
function isSet(spec: PodSpec, field: (typeof NOT_ON_WINDOWS)[number]): boolean {
  if (field === "hostPID" || field === "hostIPC") return spec[field] === true;
  const [first, second] = field.split(".") as [
    keyof PodSpec,
    keyof NonNullable<PodSpec["securityContext"]> | undefined,
  ];
  if (second === undefined) return spec[first] !== undefined;
  const value = spec.securityContext?.[second];
  return second === "sysctls" ? (spec.securityContext?.sysctls?.length ?? 0) > 0 : value !== undefined;
}
