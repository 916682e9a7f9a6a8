import type { Transport } from "@kubewright/transport";

/**
 * A transport whose writes are carried through even when their caller is told to stop meanwhile: a pod creation cut in
 * the middle may have happened, and nobody would have recorded it. Reads and watches end with their signal. Whoever stops
 * the process bounds the wait.
 */
export function finishWrites(transport: Transport): Transport {
  return (request) => {
    if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")
      return transport(request);
    const { signal: _stop, ...write } = request;
    return transport(write);
  };
}
