import { parentPort, workerData } from "node:worker_threads";

import { NodeHeap } from "./node-heap.js";
import type { PartChunk } from "./apart/part-chunk.js";
import { ThreadPartPlayer } from "./apart/part-players.js";
import type { PartAnswer, PartRequest, PartStart } from "./node-part-players.js";

// The worker thread's side of `node-part-players.ts`.
const { parts, wishes, playing } = workerData as PartStart;
const player = new ThreadPartPlayer(parts, wishes, (place) => (playing[0] = place));
const heap = new NodeHeap();

parentPort?.on("message", (request: PartRequest) => {
  void (request.type === "play" ? play(request.untilMs) : end()).catch((error: unknown) => answer({ error }));
});

async function play(untilMs: number): Promise<void> {
  const chunks = await player.play(untilMs);
  heap.hold();
  answer({ answer: chunks }, chunks.flatMap(buffersOf));
}

async function end(): Promise<void> {
  const ends = await player.end();
  answer(
    { answer: ends },
    ends.flatMap(({ chunk }) => buffersOf(chunk)),
  );
}

/** @param buffers - Handed over, not copied. */
function answer(answered: PartAnswer, buffers: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answered, buffers);
}

function buffersOf({ marks, levels }: PartChunk): ArrayBuffer[] {
  return [marks.buffer, levels.buffer].filter((buffer) => buffer instanceof ArrayBuffer);
}
