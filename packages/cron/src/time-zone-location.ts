import { TIME_ZONE_NAMES, isTimeZone } from "./time-zone-names.js";

/** The zone a name leads to, by the name that the runtime knows it by; or why there is none, in Go's words. */
export type TimeZoneLocation = { readonly zone: string } | { readonly error: string };

/** Copies of the whole database in folders of their own. */
const DATABASE_COPIES: ReadonlySet<string> = new Set(["posix", "right"]);

const FOLDERS: ReadonlySet<string> = new Set(
  Array.from(TIME_ZONE_NAMES).flatMap((name) => {
    const parts = name.split("/");
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  }),
);

/** Zones that runtimes do not have under these names. */
const FACTORY = "Factory";
const POSIX_RULES = "posixrules";

/** What else is installed beside the zones, not in their copies. */
const OTHER_FILES: ReadonlySet<string> = new Set([
  "iso3166.tab",
  "leap-seconds.list",
  "leapseconds",
  "tzdata.zi",
  "zone.tab",
  "zone1970.tab",
]);

const MAX_FILE_NAME_BYTES = 255;

/**
 * Follows a name as Go does, which takes it for a path in the folder that the zone database is installed in: repeated
 * slashes and `.` count for nothing, `posix/` and `right/` lead to the same zones, and what is found may be no zone.
 *
 * @param name - Anything; the empty name is UTC. `Local`, which Go does not look up, is for the caller.
 * @see go src/time/zoneinfo.go LoadLocation, zoneinfo_read.go loadLocation
 */
export function locateTimeZone(name: string): TimeZoneLocation {
  if (name === "") return { zone: "UTC" };
  if (name.includes("..") || name.startsWith("/") || name.startsWith("\\"))
    return { error: "time: invalid location name" };
  let path = "";
  let isCopy = false;
  let zone: string | undefined;
  for (const part of name.split("/")) {
    if (path !== "" && !FOLDERS.has(path)) return { error: "not a directory" };
    if (part === "" || part === ".") continue;
    if (new TextEncoder().encode(part).length > MAX_FILE_NAME_BYTES) return { error: "file name too long" };
    if (path === "" && !isCopy && DATABASE_COPIES.has(part)) {
      isCopy = true;
      continue;
    }
    path = path === "" ? part : `${path}/${part}`;
    if (FOLDERS.has(path)) continue;
    zone = zoneOf(path, isCopy);
    if (zone === undefined && (isCopy || !OTHER_FILES.has(path))) return { error: `unknown time zone ${name}` };
  }
  if (path === "" || FOLDERS.has(path)) return { error: "is a directory" };
  return zone === undefined ? { error: "malformed time zone information" } : { zone };
}

function zoneOf(path: string, isCopy: boolean): string | undefined {
  if (path === FACTORY) return "UTC";
  if (path === POSIX_RULES && !isCopy) return "America/New_York";
  return isTimeZone(path) ? path : undefined;
}

/**
 * Why Go could not load the zone, in its words: `unknown time zone X`, `time: invalid location name`, or what it says of a
 * folder (`is a directory`) and of a file that is no zone (`malformed time zone information`).
 *
 * @returns undefined if it can be loaded, which includes the empty name (UTC) and `Local` (the zone of the process).
 */
export function timeZoneError(name: string): string | undefined {
  if (name === "Local") return undefined;
  const location = locateTimeZone(name);
  return "error" in location ? location.error : undefined;
}
