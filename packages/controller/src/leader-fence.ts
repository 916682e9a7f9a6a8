import type { Transport } from "@kubewright/transport";

/** A write was rejected in this process, before it was sent, because the process may not act as leader any more. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";
}

/**
 * Wraps a transport so that writes are sent only while `mayAct` returns true, typically {@link
 * LeaderElector.mayActAsLeader}. A process that was delayed past its lease then sends neither the writes it had begun
 * nor those waiting for a connection. Reads always pass. The elector itself needs an unfenced transport.
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
