/**
 * A container or a volume refers to data that does not exist or that this kubelet does not support. The data may exist
 * later.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
