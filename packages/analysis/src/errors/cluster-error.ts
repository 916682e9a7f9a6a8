/** The cluster refused a request or could not be reached. Printed as one line; the process exits with status 1. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}
