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
