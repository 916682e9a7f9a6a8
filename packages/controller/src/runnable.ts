/** A component that a controller manager starts. */
export interface Runnable {
  readonly name: string;
  /** Runs until `signal` aborts, then resolves once work in flight has finished. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Runs several runnables and resolves when all have stopped. A runnable that resolves early leaves the others running.
 * A runnable that rejects stops all others, and the first error is thrown when they have ended.
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
 * Starts all groups of runnables and stops them one after the other. The first group stops when `signal` aborts, each
 * further group when the previous ones have ended. Later groups start first.
 *
 * Components that controllers need until their last sync, such as informers and an event recorder, belong to a later
 * group. Each runnable limits how long it takes to stop.
 *
 * Within a group the rules of {@link runAll} apply. A runnable that rejects stops all groups in the same order; the
 * first error is thrown when all have ended.
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
