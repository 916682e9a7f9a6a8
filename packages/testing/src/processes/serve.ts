import { createRequire } from "node:module";
import path from "node:path";

import { startChild } from "./child-process.js";

export interface ServeProcessOptions {
  /** Flags in addition to `--port 0 --speed manual`. */
  readonly flags: readonly string[];
  /** Folder from which `kubewright` is resolved. Default: the working directory. */
  readonly folder?: string;
}

export interface ServeProcess {
  readonly url: string;
  /** Returns how the process ended, with its output; `undefined` while it runs. */
  readonly ended: () => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Returns why `kubewright serve` cannot be started and how to install it; `undefined` when it can. */
export function missingServe(folder: string = process.cwd()): string | undefined {
  return binary(folder) === undefined
    ? `the package kubewright cannot be found from ${folder}: npm install kubewright --save-dev`
    : undefined;
}

/**
 * Starts `kubewright serve --speed manual` on a free port of this machine. @throws Error with its output when it fails.
 */
export async function startServeProcess({ flags, folder = process.cwd() }: ServeProcessOptions): Promise<ServeProcess> {
  const command = binary(folder);
  if (command === undefined) throw new Error(missingServe(folder));
  const child = startChild("kubewright serve", process.execPath, [
    command,
    "serve",
    "--port=0",
    "--speed=manual",
    ...flags,
  ]);
  try {
    const [, url = ""] = await child.waitForOutput(/Serving on (\S+)/);
    await child.waitForOutput(/^kubewright is ready$/m);
    const ended = (): string | undefined => {
      const how = child.ended();
      return how === undefined ? undefined : `kubewright serve ${how}:\n${child.output()}`;
    };
    return { url, ended, stop: child.stop };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

function binary(folder: string): string | undefined {
  try {
    const manifest = createRequire(path.join(folder, "package.json")).resolve("kubewright/package.json");
    return path.join(path.dirname(manifest), "bin/kubewright.js");
  } catch {
    return undefined;
  }
}
