/** The cluster, or the way to it, said no. Shown as one line; the process exits with status 1. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}
