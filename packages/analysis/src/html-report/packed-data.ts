import type { PageData, ReportData } from "@kubewright/timeline/data";

/**
 * Packs the data of a page: JSON, compressed with gzip, in base64. This takes a tenth of the space. It contains no
 * character that could close the surrounding element.
 */
export async function packData(data: PageData): Promise<string> {
  const packed = new Blob([JSON.stringify(shortenIds(data))]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64(new Uint8Array(await new Response(packed).arrayBuffer()));
}

/** Number of bytes per call; the arguments of one call are limited. */
const CHUNK = 16_384;

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

function shortenIds(data: PageData): PageData {
  if ("page" in data) return data;
  return "a" in data ? { ...data, a: withShortIds(data.a), b: withShortIds(data.b) } : withShortIds(data);
}

/**
 * Replaces UIDs with short numbers. UIDs are random and do not compress, and the page only needs them to distinguish
 * bars.
 */
function withShortIds(data: ReportData): ReportData {
  const ids = new Map<string, string>();
  const short = (uid: string): string => {
    let id = ids.get(uid);
    if (id === undefined) ids.set(uid, (id = ids.size.toString(36)));
    return id;
  };
  const withShortId = <T extends { readonly uid: string }>(object: T): T => ({ ...object, uid: short(object.uid) });
  return {
    ...data,
    groups: data.groups.map((group) => ({
      ...withShortId(group),
      rows: group.rows.map((row) =>
        row.type === "run" ? { ...withShortId(row), pods: row.pods.map(withShortId) } : row,
      ),
    })),
    objects: Object.fromEntries(Object.entries(data.objects).map(([uid, object]) => [short(uid), object])),
  };
}
