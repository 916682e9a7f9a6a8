import type { PageData, ReportData } from "@kubewright/timeline/data";

/**
 * A report's data for a page to hold: JSON, gzipped, in base64, which takes a tenth of the room, and has no character
 * that could end the element it stands in.
 */
export async function packData(data: PageData): Promise<string> {
  const packed = new Blob([JSON.stringify(shortenIds(data))]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64(new Uint8Array(await new Response(packed).arrayBuffer()));
}

/** Bytes that fit the arguments of one call. */
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

/** UIDs are random, so nothing compresses them; a page needs them to tell its bars apart, for which numbers do. */
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
