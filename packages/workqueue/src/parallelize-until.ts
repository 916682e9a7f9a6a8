export interface ParallelizeOptions {
  /** Maximum number of concurrent pieces. */
  readonly workers: number;
  readonly pieces: number;
  /** Number of pieces that a worker takes at once and processes sequentially. Default and minimum: 1. */
  readonly chunkSize?: number;
  /** After an abort no further piece starts, and running pieces are awaited. An abort is not an error. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `doPiece` for 0 … pieces − 1 with bounded concurrency, and resolves when every worker has stopped.
 *
 * A piece that throws ends its worker. The other workers continue and take the remaining chunks.
 *
 * @throws RangeError when there are pieces but no worker; the first error of a piece, after all workers have stopped
 * (upstream's crash handler ends the process).
 * @see kubernetes v1.36 client-go util/workqueue/parallelizer.go
 */
export async function parallelizeUntil(
  { workers, pieces, chunkSize = 1, signal }: ParallelizeOptions,
  doPiece: (piece: number) => Promise<void> | void,
): Promise<void> {
  if (pieces > 0 && !(workers >= 1)) throw new RangeError(`${workers} workers would never do ${pieces} pieces`);
  const size = Math.max(1, Math.floor(chunkSize));
  const chunks = Math.ceil(pieces / size);
  let nextChunk = 0;
  const work = async (): Promise<void> => {
    while (nextChunk < chunks) {
      const start = nextChunk++ * size;
      const end = Math.min(start + size, pieces);
      for (let piece = start; piece < end; piece++) {
        if (signal?.aborted) return;
        await doPiece(piece);
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(workers, chunks) }, work));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
