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

/** `linux/amd64`: as Go names operating systems and processors. */
export function goPlatform({ platform, arch }: Pick<Build, "platform" | "arch">): string {
  return `${platform === "win32" ? "windows" : platform}/${{ x64: "amd64", ia32: "386" }[arch] ?? arch}`;
}

/** `kubewright-controller-manager/v0.1.0 (linux/amd64) kubernetes/v1.36/job-controller`: client-go's form, and Go's names. */
export function userAgent(build: Build, clientName: string): string {
  return `${PROGRAM}/v${build.version} (${goPlatform(build)}) kubernetes/${KUBERNETES_VERSION}/${clientName}`;
}
