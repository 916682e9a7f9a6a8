import { errorMessage } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";
import type { ApiResponse, Transport } from "@kubewright/transport";

export interface WaitForHealthyOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

const MAX_WAIT_MS = 10_000;
const POLL_MS = 1_000;
/** Additional time for the last response. */
const GRACE_MS = 1_000;

/**
 * Requests `/healthz` of the API server every second until it returns 200, for at most 10 s.
 *
 * @throws Error with the last failure; the signal's reason when the signal aborts.
 * @see kubernetes v1.36 staging/src/k8s.io/controller-manager/app/helper.go WaitForAPIServer
 */
export async function waitForHealthy({
  transport,
  clock,
  logger,
  userAgent,
  signal,
}: WaitForHealthyOptions): Promise<void> {
  const deadlineMs = clock.monotonic() + MAX_WAIT_MS;
  const late = new AbortController();
  const timer = clock.setTimer(MAX_WAIT_MS + GRACE_MS, () => late.abort(new Error("it did not answer in time")));
  let problem = "";
  try {
    for (;;) {
      try {
        const request = {
          method: "GET",
          path: "/healthz",
          headers: { "user-agent": userAgent },
          signal: AbortSignal.any([signal, late.signal]),
        } as const;
        const { status, body } = await readAnswer(await transport(request));
        if (status === 200) return;
        if (status >= 400) problem = `failed to get apiserver /healthz status: ${body || `it answered ${status}`}`;
        else logger.warn({}, `APIServer isn't healthy yet: ${body}. Waiting a little while.`);
      } catch (error) {
        if (!late.signal.aborted || problem === "")
          problem = `failed to get apiserver /healthz status: ${errorMessage(error)}`;
      }
      signal.throwIfAborted();
      const leftMs = deadlineMs - clock.monotonic();
      if (leftMs <= 0) {
        const cause = problem === "" ? "" : `: ${problem}`;
        throw new Error(`failed to wait for apiserver being healthy: timed out waiting for the condition${cause}`);
      }
      await clock.sleep(Math.min(POLL_MS, leftMs), signal);
    }
  } finally {
    timer.cancel();
  }
}

/** Longest prefix of a health check's response that is read, in characters. */
const MAX_TEXT_LENGTH = 2048;

/** Reads a health check's response: plain text, of which only the beginning is read. */
async function readAnswer({ status, body }: ApiResponse): Promise<{ status: number; body: string }> {
  if (body.type === "decoded")
    return { status, body: typeof body.value === "string" ? body.value : JSON.stringify(body.value) };
  if (body.type === "events") return { status, body: "" };
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body.chunks) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_TEXT_LENGTH) break;
  }
  return { status, body: text.slice(0, MAX_TEXT_LENGTH).trim() };
}
