import type { Transport } from "@kubewright/transport";

/** A write was refused here, before it was sent, because this process may not act as leader any more. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";
}

/**
 * A transport that sends writes only while `mayAct`, typically {@link LeaderElector.mayActAsLeader}: a process that was
 * held up past its lease does no harm with what it had begun before. Reads always pass. The elector itself needs a
 * transport without this.
 */
export function leaderFence(transport: Transport, mayAct: () => boolean): Transport {
  return (request) => {
    if (request.method !== "GET" && request.method !== "HEAD" && request.method !== "OPTIONS" && !mayAct()) {
      return Promise.reject(
        new NotLeaderError(`${request.method} ${request.path} not sent: the lease was not renewed in time`),
      );
    }
    return transport(request);
  };
}
