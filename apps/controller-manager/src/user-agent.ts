import { PROGRAM } from "./command-line.js";

export interface Build {
  /** Version of this package, such as `0.1.0`. */
  readonly version: string;
  /** Node's names: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
}

/** The Kubernetes release whose behaviour is implemented. */
export const KUBERNETES_VERSION = "v1.36";

/** Go's names of operating system and architecture: `linux/amd64`. */
export function goPlatform({ platform, arch }: Pick<Build, "platform" | "arch">): string {
  return `${platform === "win32" ? "windows" : platform}/${{ x64: "amd64", ia32: "386" }[arch] ?? arch}`;
}

/** `kubewright-controller-manager/v0.1.0 (linux/amd64) kubernetes/v1.36/job-controller`, in client-go's form. */
export function userAgent(build: Build, clientName: string): string {
  return `${PROGRAM}/v${build.version} (${goPlatform(build)}) kubernetes/${KUBERNETES_VERSION}/${clientName}`;
}
