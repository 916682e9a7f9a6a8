import { PROGRAM } from "./command-line.js";

export interface Build {
  /** Of this package, such as `0.1.0`. */
  readonly version: string;
  /** As Node names them: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
}

/** The release of Kubernetes whose behaviour this is. */
export const KUBERNETES_VERSION = "v1.36";

/** `kubewright-controller-manager/v0.1.0 (linux/amd64) kubernetes/v1.36/job-controller`: client-go's form, and Go's names. */
export function userAgent({ version, platform, arch }: Build, clientName: string): string {
  const os = platform === "win32" ? "windows" : platform;
  const cpu = { x64: "amd64", ia32: "386" }[arch] ?? arch;
  return `${PROGRAM}/v${version} (${os}/${cpu}) kubernetes/${KUBERNETES_VERSION}/${clientName}`;
}
