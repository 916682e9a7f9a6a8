import type { Query } from "./query.js";
import { type Reply, textReply, valueReply } from "./reply.js";

/** Content of `/version`; every member is a string. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
}

/** @param gitVersion - such as `v1.36.3`. */
export function versionInfo(gitVersion: string): VersionInfo {
  const [major = "", minor = ""] = gitVersion.slice(1).split(".");
  return { major, minor, gitVersion };
}

const CHECKS = ["ping", "log", "etcd"];
const READY_CHECKS = [...CHECKS, "informer-sync", "shutdown"];

/** Serves `/version` and health checks. Returns `undefined` for other paths. */
export function serveNonResource(path: string, query: Query, version: VersionInfo): Reply | undefined {
  if (path === "/version" || path === "/version/") return valueReply(200, versionDocument(version));
  const [, endpoint = "", check, ...rest] = path.split("/");
  if (endpoint !== "healthz" && endpoint !== "livez" && endpoint !== "readyz") return undefined;
  const checks = endpoint === "readyz" ? READY_CHECKS : CHECKS;
  if (check === undefined) return health(endpoint, checks, query);
  return rest.length === 0 && checks.includes(check) ? healthText("ok") : undefined;
}

function versionDocument({ major, minor, gitVersion }: VersionInfo): unknown {
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion,
    gitCommit: "0000000000000000000000000000000000000000",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "go1.26",
    compiler: "gc",
    platform: "linux/amd64",
  };
}

function health(endpoint: string, checks: readonly string[], query: Query): Reply {
  if (!query.has("verbose")) return healthText("ok");
  const excluded = new Set(query.getAll("exclude"));
  let text = checks.map((check) => (excluded.has(check) ? `[+]${check} excluded: ok\n` : `[+]${check} ok\n`)).join("");
  const unknown = [...excluded].filter((check) => !checks.includes(check));
  if (unknown.length > 0)
    text += `warn: some health checks cannot be excluded: no matches for ${unknown.map((check) => JSON.stringify(check)).join(",")}\n`;
  return healthText(`${text}${endpoint} check passed\n`);
}

function healthText(text: string): Reply {
  return textReply(200, text, "text/plain; charset=utf-8", { "x-content-type-options": "nosniff" });
}
