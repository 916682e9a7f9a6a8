import type { DeepReadonly, Pod } from "@kubewright/api";

/** What of a log is asked for: `PodLogOptions`, as `kubectl logs` sets them. */
export interface ContainerLogOptions {
  /** Goes on until the container has ended. */
  readonly follow: boolean;
  /** Of the container's run before this one. */
  readonly previous: boolean;
  /** Whether each line begins with its time. */
  readonly timestamps: boolean;
  /** Nothing that is older, in epoch milliseconds. Default: everything. */
  readonly sinceMs: number | undefined;
  /** Only so many lines at the end; from there on all that follows. Default: all. */
  readonly tailLines: number | undefined;
  /** Bytes after which it breaks off. Default: it does not. */
  readonly limitBytes: number | undefined;
}

/**
 * Reads what containers have written, for `pods/log`: where some are run.
 *
 * @param signal - Aborts when nobody reads any more.
 * @returns `undefined` when nothing is kept of that container.
 */
export type ContainerLogs = (
  pod: DeepReadonly<Pod>,
  container: string,
  options: ContainerLogOptions,
  signal: AbortSignal,
) => AsyncIterable<Uint8Array> | undefined;
