import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Starts a component with a temporary folder. The folder is deleted when the component stops or cannot start. */
export async function withFolder<T extends { readonly stop: () => Promise<void> }>(
  start: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-test-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const started = await start(folder);
    const stop = async (): Promise<void> => {
      try {
        await started.stop();
      } finally {
        await remove();
      }
    };
    return { ...started, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}
