import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Spool } from "@kubewright/analysis/ports";

/**
 * Opens a file in the system's temporary folder. Removes its name before anything is written, where the system permits
 * it.
 */
export async function openSpool(): Promise<Spool> {
  const folder = await mkdtemp(path.join(tmpdir(), "kubewright-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => {});
  const file = await open(path.join(folder, "spool"), "wx+", 0o600);
  await remove();
  return {
    write: (text) => file.appendFile(text),
    read: () => file.createReadStream({ start: 0, encoding: "utf8", autoClose: false, highWaterMark: 2 ** 20 }),
    async close() {
      await file.close();
      await remove();
    },
  };
}
