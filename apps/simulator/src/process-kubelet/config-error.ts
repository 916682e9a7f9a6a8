/** What a container, or a volume, is told to have is not there, or cannot be had from this kubelet. May be so later. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
