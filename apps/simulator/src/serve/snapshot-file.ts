import type { DeepReadonly, KubernetesObject } from "@kubewright/api";
import type { StoreSnapshot } from "@kubewright/cluster";

import type { Io } from "../io/io.js";
import { openOutput } from "@kubewright/analysis/ports";
import { UserError } from "@kubewright/analysis/errors";

/**
 * Writes a snapshot as JSON, object by object. An object that cannot be serialized does not affect the others, and
 * neither does their number.
 *
 * @returns One line for each omitted object.
 * @throws UserError when the file cannot be written.
 */
export async function writeSnapshot(
  path: string,
  snapshot: StoreSnapshot,
  io: Pick<Io, "openFile">,
): Promise<string[]> {
  // Snapshots contain Secrets.
  const file = await openOutput("--snapshot", path, io, { secret: true });
  const omitted: string[] = [];
  await file.write(`{"resourceVersion":${JSON.stringify(snapshot.resourceVersion)},"objects":{`);
  let keySeparator = "";
  for (const [key, objects] of Object.entries(snapshot.objects)) {
    await file.write(`${keySeparator}${JSON.stringify(key)}:[`);
    keySeparator = ",";
    let separator = "";
    for (const object of objects) {
      let text: string;
      try {
        text = JSON.stringify(object);
      } catch (error) {
        omitted.push(`${nameOf(key, object)}: ${(error as Error).message.split("\n")[0]}`);
        continue;
      }
      await file.write(separator + text);
      separator = ",";
    }
    await file.write("]");
  }
  await file.write("}}\n");
  await file.close();
  return omitted;
}

/** V8 has a limit of 512 MiB for a string. */
const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** @throws UserError when the file contains no snapshot. */
export async function readSnapshot(path: string, io: Pick<Io, "readFile">): Promise<StoreSnapshot> {
  let snapshot: unknown;
  try {
    snapshot = JSON.parse(await io.readFile(path, { maxBytes: MAX_SNAPSHOT_BYTES }));
  } catch (error) {
    throw new UserError(`--restore: cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof snapshot !== "object" || snapshot === null || !("resourceVersion" in snapshot)) {
    throw new UserError(`--restore: ${path} is not a snapshot of kubewright serve`);
  }
  return snapshot as StoreSnapshot;
}

/** Returns `batch/jobs default/nightly`. */
function nameOf(key: string, { metadata }: DeepReadonly<KubernetesObject>): string {
  const { namespace, name = "" } = metadata;
  return `${key.replace(/^\//, "")} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
