/** Anything a controller manager starts. */
export interface Runnable {
  readonly name: string;
  /** Runs until `signal` aborts, then resolves once work in flight has finished. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Runs many at once and resolves when all have stopped. One that resolves early leaves the others running; one that
 * rejects stops them all, and its error (the first, if there are more) is thrown once they have ended.
 */
export async function runAll(runnables: Iterable<Runnable>, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  let failure: { readonly error: unknown } | undefined;
  const guarded = async (runnable: Runnable): Promise<void> => {
    try {
      await runnable.run(stop.signal);
    } catch (error) {
      failure ??= { error };
      stop.abort(error);
    }
  };
  await Promise.all(Array.from(runnables, guarded));
  signal.removeEventListener("abort", onAbort);
  if (failure !== undefined) throw failure.error;
}

/**
 * Runs groups of runnables all at once, and stops them one group after the other: the first when `signal` aborts, each
 * further one when those before it have ended. What controllers need until their last sync is over, such as informers and
 * an event recorder, belongs into a later group than they; later groups are started first. How long stopping may take is
 * each runnable's own affair.
 *
 * Within a group the rules of {@link runAll} hold. One that rejects stops everything, in the same order; the first error
 * is thrown once all have ended.
 */
export async function runInStages(stages: readonly Iterable<Runnable>[], signal: AbortSignal): Promise<void> {
  const stops = stages.map(() => new AbortController());
  const stopping = Promise.withResolvers<unknown>();
  let failure: { readonly error: unknown } | undefined;
  const run = async (stage: Iterable<Runnable>, signal: AbortSignal): Promise<void> => {
    try {
      await runAll(stage, signal);
    } catch (error) {
      failure ??= { error };
      stopping.resolve(error);
    }
  };
  const running: Promise<void>[] = [];
  for (const [index, stage] of [...stages.entries()].reverse()) running[index] = run(stage, stops[index]!.signal);
  const onAbort = (): void => stopping.resolve(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const reason = await Promise.race([stopping.promise, Promise.all(running)]);
  signal.removeEventListener("abort", onAbort);
  for (const [index, stop] of stops.entries()) {
    stop.abort(reason);
    await running[index];
  }
  if (failure !== undefined) throw failure.error;
}
