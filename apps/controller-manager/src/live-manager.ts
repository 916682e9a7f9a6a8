import { type DeepReadonly, type Lease, leases, parseTime } from "@kubewright/api";
import { type Client, errorMessage, isForbidden, isNotFound } from "@kubewright/client";
import type { Clock } from "@kubewright/clock";
import type { Logger } from "@kubewright/controller";

import { UsageError } from "./flag-values.js";

/** The Lease of kube-controller-manager. */
export const UPSTREAM_LEASE = { namespace: "kube-system", name: "kube-controller-manager" } as const;

export interface LiveManagerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const REMEDY =
  "pass --managed-by NAME to handle only Jobs with that spec.managedBy, or switch these controllers off there (such as --controllers=*,-job,-cronjob) and pass --take-over";
const RETRY_MS = 1_000;
const POLL_MS = 1_000;
/** Fraction of the lease duration for which an expired Lease is observed: holders renew several times as often. */
const OBSERVED_FRACTION = 1 / 3;
const MAX_OBSERVATION_MS = 10_000;
/** A larger clock skew would be noticed elsewhere. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

/**
 * Resolves when no kube-controller-manager is live. Two controllers that count the same pods interfere with each other.
 *
 * - Without a Lease, or with one without holder, no manager is live.
 * - A Lease renewed within its duration belongs to a live manager, and is refused immediately.
 * - A Lease that seems expired, or has a renew time in the future, may be that of a manager with another clock. It is
 *   observed for a few seconds: a renewal proves that its holder is live.
 * - Without permission to read the Lease the state is unknown, which is refused too.
 *
 * Other failures are retried until the signal aborts.
 *
 * @throws UsageError with a one-line message that says what to do; the signal's reason.
 */
export async function ensureNoLiveManager({ client, clock, logger, signal }: LiveManagerOptions): Promise<void> {
  const found = await findLiveLease(() => readLease({ client, clock, logger, signal }), {
    clock,
    signal,
    onObserve: (lease) =>
      logger.info(
        { holder: holderOf(lease), renewTime: lease.spec?.renewTime },
        "The lease of kube-controller-manager seems to be out of date, observing it",
      ),
  });
  if (found !== undefined) throw new UsageError(refusalText(found));
}

export interface LiveLeaseOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called when the Lease must be observed. */
  readonly onObserve?: (lease: DeepReadonly<Lease>) => void;
}

/**
 * Returns the Lease if its holder is live, by the rules of {@link ensureNoLiveManager}.
 *
 * @throws The signal's reason.
 */
export async function findLiveLease(
  read: () => Promise<DeepReadonly<Lease> | undefined>,
  { clock, signal, onObserve }: LiveLeaseOptions,
): Promise<DeepReadonly<Lease> | undefined> {
  const first = await read();
  if (first === undefined || holderOf(first) === "") return undefined;
  const { leaseDurationSeconds = 15, renewTime } = first.spec!;
  const durationMs = leaseDurationSeconds * 1_000;
  const ageMs = clock.now() - (parseTime(renewTime) ?? Number.NaN);
  if (Math.abs(ageMs) <= durationMs) return first;
  if (!(Math.abs(ageMs) < MAX_CLOCK_SKEW_MS)) return undefined;
  onObserve?.(first);
  const untilMs = clock.monotonic() + Math.min(durationMs * OBSERVED_FRACTION, MAX_OBSERVATION_MS);
  while (clock.monotonic() < untilMs) {
    await clock.sleep(POLL_MS, signal);
    const lease = await read();
    if (lease === undefined || holderOf(lease) === "") return undefined;
    if (lease.spec!.renewTime !== renewTime) return lease;
  }
  return undefined;
}

/** Returns a Lease; `undefined` when it does not exist. */
export async function getLease(
  client: Client,
  { namespace, name, signal }: { readonly namespace: string; readonly name: string; readonly signal: AbortSignal },
): Promise<DeepReadonly<Lease> | undefined> {
  try {
    return await client.resource(leases).get(name, { namespace, signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function holderOf(lease: DeepReadonly<Lease> | undefined): string {
  return lease?.spec?.holderIdentity ?? "";
}

function refusalText(lease: DeepReadonly<Lease>): string {
  const { namespace, name } = UPSTREAM_LEASE;
  return `kube-controller-manager is running (${holderOf(lease)} holds lease ${namespace}/${name}): ${REMEDY}`;
}

async function readLease({
  client,
  clock,
  logger,
  signal,
}: LiveManagerOptions): Promise<DeepReadonly<Lease> | undefined> {
  const { namespace, name } = UPSTREAM_LEASE;
  for (let attempt = 0; ; attempt++) {
    try {
      return await getLease(client, { namespace, name, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (isForbidden(error)) {
        throw new UsageError(
          `not known whether kube-controller-manager is running (not allowed to get lease ${namespace}/${name}): grant that, or ${REMEDY}`,
          { cause: error },
        );
      }
      if (attempt === 0)
        logger.warn({ err: errorMessage(error) }, "Not known yet whether kube-controller-manager is running");
      await clock.sleep(RETRY_MS, signal);
    }
  }
}
