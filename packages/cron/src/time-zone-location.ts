import { TIME_ZONE_NAMES, isTimeZone } from "./time-zone-names.js";

/** The runtime's name of the zone that a name refers to, or Go's message if there is none. */
export type TimeZoneLocation = { readonly zone: string } | { readonly error: string };

/** Folders with copies of the whole database. */
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

/** Other files installed with the zones, but not in the copies. */
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
 * Resolves a name like Go, which uses it as a path in the folder of the zone database. Repeated slashes and `.` are
 * ignored. `posix/` and `right/` lead to the same zones. The path can lead to a file that is not a zone.
 *
 * @param name - Any text; the empty name is UTC. The caller handles `Local`, which Go does not look up.
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
 * Returns Go's message for a zone that it cannot load: `unknown time zone X`, `time: invalid location name`, or its
 * message for a folder (`is a directory`) and for a file that is not a zone (`malformed time zone information`).
 *
 * @returns `undefined` if the zone can be loaded, which includes the empty name (UTC) and `Local` (the zone of the
 * process).
 */
export function timeZoneError(name: string): string | undefined {
  if (name === "Local") return undefined;
  const location = locateTimeZone(name);
  return "error" in location ? location.error : undefined;
}
