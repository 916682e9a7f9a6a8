import type { Container, PodSpec } from "@kubewright/api";
import { byteLength, dnsSubdomainErrors } from "@kubewright/api/validation";

import type { FieldErrors } from "../../field-errors.js";
import { addInvalid } from "../../validation/rules.js";
import { visitContainers } from "./visit-containers.js";

type WindowsOptions = NonNullable<NonNullable<Container["securityContext"]>["windowsOptions"]>;

const MAX_SPEC_KIB = 64;
const MAX_DOMAIN = 256;
const MAX_USER = 104;
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const DNS_DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const NET_BIOS_DOMAIN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
// eslint-disable-next-line no-control-regex -- They are what is looked for.
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/;
const NOT_IN_USERS = /["/\\:;|=,+*?<>@[\]]/;

/** Upstream: `validateWindowsSecurityContextOptions`. */
export function validateWindowsOptions(options: WindowsOptions | undefined, path: string, errors: FieldErrors): void {
  if (options === undefined) return;
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined)
    addInvalid(
      errors,
      `${path}.gmsaCredentialSpecName`,
      gmsaCredentialSpecName,
      dnsSubdomainErrors(gmsaCredentialSpecName),
    );
  if (gmsaCredentialSpec === "")
    errors.invalid(`${path}.gmsaCredentialSpec`, "", "gmsaCredentialSpec cannot be an empty string");
  else if (byteLength(gmsaCredentialSpec ?? "") > MAX_SPEC_KIB * 1024) {
    const detail = `gmsaCredentialSpec size must be under ${MAX_SPEC_KIB} KiB`;
    errors.invalid(`${path}.gmsaCredentialSpec`, gmsaCredentialSpec, detail);
  }
  if (runAsUserName !== undefined)
    addInvalid(errors, `${path}.runAsUserName`, runAsUserName, userNameErrors(runAsUserName));
}

/** Validates a user name: `User` or `Domain\User`. */
function userNameErrors(name: string): readonly string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"];
  if (CONTROL_CHARACTERS.test(name)) return ["runAsUserName cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const user = parts.at(-1)!;
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const sentences: string[] = [];
  if (byteLength(domain ?? "") >= MAX_DOMAIN)
    sentences.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN} characters`);
  if (domain !== undefined && !NET_BIOS_DOMAIN.test(domain) && !DNS_DOMAIN.test(domain))
    sentences.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === "") sentences.push("runAsUserName's User cannot be empty");
  else if (byteLength(user) > MAX_USER)
    sentences.push(`runAsUserName's User length must not be longer than ${MAX_USER} characters`);
  if (/^[. ]+$/.test(user)) sentences.push("runAsUserName's User cannot contain only periods or spaces");
  if (NOT_IN_USERS.test(user))
    sentences.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return sentences;
}

function hasWindowsOptions({ securityContext }: Pick<PodSpec, "securityContext"> | Container): boolean {
  return securityContext?.windowsOptions !== undefined;
}

/**
 * Validates HostProcess containers, which run on the host: either all containers of a pod or none. Upstream:
 * `validateWindowsHostProcessPod`.
 */
export function validateHostProcess(spec: PodSpec, path: string, errors: FieldErrors): void {
  if (
    !spec.containers?.some(hasWindowsOptions) &&
    !spec.initContainers?.some(hasWindowsOptions) &&
    !hasWindowsOptions(spec)
  )
    return;
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  let onHost = 0;
  visitContainers(spec, path, (container, at) => {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    count++;
    if (own ?? ofPod) onHost++;
    if (ofPod === undefined || own === undefined || own === ofPod) return;
    const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
    errors.invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail);
  });
  if (onHost === 0) return;
  if (onHost !== count)
    errors.invalid(
      path,
      "",
      "If pod contains any hostProcess containers then all containers must be HostProcess containers",
    );
  if (!spec.hostNetwork) {
    const detail = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.invalid(`${path}.hostNetwork`, false, detail);
  }
  if (!errors.allowsPrivileged) errors.forbidden(path, "hostProcess containers are disallowed by cluster policy");
}
