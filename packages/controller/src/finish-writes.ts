import type { Transport } from "@kubewright/transport";

/**
 * Wraps a transport so that an abort does not cancel writes. A cancelled pod creation may have happened on the server,
 * and the controller would have no record of it. Reads and watches end with their signal. The code that stops the
 * process limits the wait.
 */
export function finishWrites(transport: Transport): Transport {
  return (request) => {
    if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")
      return transport(request);
    const { signal: _stop, ...write } = request;
    return transport(write);
  };
}
