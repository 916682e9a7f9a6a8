import type { Transport } from "@kubewright/transport";

/** A write was refused here, before it was sent, because this process may not act as leader any more. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";
}

/**
 * A transport that sends writes only while `mayAct`, typically {@link LeaderElector.mayActAsLeader}: a process that was
 * held up past its lease does no harm with what it had begun before, nor with what waited for a connection. Reads always pass.
 * The elector itself needs a transport without this.
 */
export function leaderFence(transport: Transport, mayAct: () => boolean): Transport {
  return async (request) => {
    if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")
      return transport(request);
    const checkLeadership = (): void => {
      request.beforeSend?.();
      if (mayAct()) return;
      throw new NotLeaderError(`${request.method} ${request.path} not sent: the lease was not renewed in time`);
    };
    checkLeadership();
    return transport({ ...request, beforeSend: checkLeadership });
  };
}
