import type { Clock, Random } from "@kubewright/clock";

import type { BuildInfo } from "../metrics/build-metrics.js";
import { flagValues } from "../flags.js";
import type { ControllerManagerOptions } from "../options.js";
import { type HttpReply, type HttpRequest, failureReply, header, jsonReply, textReply } from "./http-message.js";
import type { Route } from "./router.js";

const COMPONENT = "kube-controller-manager";
const GROUP = "config.k8s.io";
const WARNING =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";
/** One is selected at random for each response, so that no client relies on the format. */
const SEPARATORS = [":", ": ", "=", " "];

interface ZPage {
  readonly kind: "Flagz" | "Statusz";
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly fields: object;
}

/** `/flagz`: the value of every flag, by name. */
export function flagzRoute(options: ControllerManagerOptions, random: Random): Route {
  const lines = flagValues(options);
  const page: ZPage = { kind: "Flagz", lines, fields: { flags: Object.fromEntries(lines) } };
  return { path: "/flagz", listed: true, handle: (request) => zPage(request, page, random) };
}

export interface StatuszOptions {
  readonly build: BuildInfo;
  readonly clock: Clock;
  readonly random: Random;
  readonly listedPaths: () => readonly string[];
}

/** `/statusz`: version, uptime and endpoints. */
export function statuszRoute({ build, clock, random, listedPaths }: StatuszOptions): Route {
  const startMs = clock.now();
  const startMonotonicMs = clock.monotonic();
  const release = build.kubernetesVersion.replace(/^v/, "");
  const handle = (request: HttpRequest): Promise<HttpReply> => {
    const uptimeSeconds = Math.floor((clock.monotonic() - startMonotonicMs) / 1000);
    const paths = listedPaths();
    return zPage(
      request,
      {
        kind: "Statusz",
        lines: [
          ["Started", unixDate(startMs)],
          ["Up", uptime(uptimeSeconds)],
          ["Go version", `node ${build.nodeVersion}`],
          ["Binary version", release],
          ["Emulation version", release],
          ["Paths", paths.join(" ")],
        ],
        fields: {
          startTime: new Date(startMs).toISOString().replace(/\.\d+Z$/, "Z"),
          uptimeSeconds,
          goVersion: `node ${build.nodeVersion}`,
          binaryVersion: release,
          emulationVersion: release,
          paths,
        },
      },
      random,
    );
  };
  return { path: "/statusz", handle };
}

/** @see kubernetes v1.36 staging/src/k8s.io/component-base/zpages/httputil */
async function zPage(request: HttpRequest, { kind, lines, fields }: ZPage, random: Random): Promise<HttpReply> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return textReply(405, "Method Not Allowed\n", { allow: "GET, HEAD" });
  for (const accepted of parseAccept(header(request, "accept") ?? "text/plain")) {
    const { type, parameters } = accepted;
    if (["text/plain", "text/*", "*/*"].includes(type)) {
      const separator = SEPARATORS[Math.floor(random.next() * SEPARATORS.length)]!;
      const table = lines.map(([name, value]) => `${name}${separator}${value}\n`).join("");
      return textReply(200, `\n${COMPONENT} ${kind.toLowerCase()}\n${WARNING}\n\n${table}`);
    }
    const { v: version, g: group, as } = parameters;
    if (group !== GROUP || as !== kind || (version !== "v1beta1" && version !== "v1alpha1")) continue;
    const object = { kind, apiVersion: `${GROUP}/${version}`, metadata: { name: COMPONENT }, ...fields };
    const headers: Record<string, string> = {};
    if (version === "v1alpha1") {
      headers.warning = `299 - "This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`;
    }
    if (type === "application/json") return jsonReply(200, object, headers);
    if (type === "application/yaml") {
      const { stringify } = await import("yaml");
      return textReply(200, stringify(object), { ...headers, "content-type": "application/yaml" });
    }
  }
  const target = (type: string): string => `${type};v=v1beta1;g=${GROUP};as=${kind}`;
  const types = ["text/plain", target("application/json"), target("application/yaml")].join(", ");
  return failureReply(406, "NotAcceptable", `only the following media types are accepted: ${types}`);
}

function parseAccept(header: string): { type: string; parameters: Readonly<Record<string, string>> }[] {
  return header.split(",").map((part) => {
    const [type = "", ...rest] = part.split(";").map((piece) => piece.trim());
    const parameters = Object.fromEntries(
      rest.map((piece) => [piece.split("=", 1)[0]!, piece.slice(piece.indexOf("=") + 1)] as const),
    );
    return { type: type.toLowerCase(), parameters };
  });
}

/** Go's `time.UnixDate`, in UTC. */
function unixDate(epochMs: number): string {
  const [, weekday, day, month, year, time] =
    /^(\w+), (\d+) (\w+) (\d+) (\S+)/.exec(new Date(epochMs).toUTCString()) ?? [];
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function uptime(totalSeconds: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const hours = Math.floor(totalSeconds / 3600);
  return `${hours} hr ${two(Math.floor(totalSeconds / 60) % 60)} min ${two(totalSeconds % 60)} sec`;
}
