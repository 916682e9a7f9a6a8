import type { DeepReadonly, Pod } from "@kubewright/api";

/** Options of a log request: `PodLogOptions`, as `kubectl logs` sets them. */
export interface ContainerLogOptions {
  /** Whether the stream continues until the container ends. */
  readonly follow: boolean;
  /** Whether to read the log of the container's previous run. */
  readonly previous: boolean;
  /** Whether each line begins with its timestamp. */
  readonly timestamps: boolean;
  /** Oldest timestamp to return, in epoch milliseconds. Default: everything. */
  readonly sinceMs: number | undefined;
  /** Number of lines from the end of the log; later lines follow. Default: all. */
  readonly tailLines: number | undefined;
  /** Maximum number of bytes. Default: unlimited. */
  readonly limitBytes: number | undefined;
}

/**
 * Reads container logs for `pods/log`.
 *
 * @param signal - Aborts when the client stops reading.
 * @returns `undefined` when there is no log of the container.
 */
export type ContainerLogs = (
  pod: DeepReadonly<Pod>,
  container: string,
  options: ContainerLogOptions,
  signal: AbortSignal,
) => AsyncIterable<Uint8Array> | undefined;
