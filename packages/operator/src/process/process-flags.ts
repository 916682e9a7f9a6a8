import { parseArgs } from "node:util";

/** Settings from the command line and the environment of an operator. */
export interface ProcessFlags {
  readonly help: boolean;
  readonly kubeconfig: string | undefined;
  readonly leaderElect: boolean | undefined;
  readonly leaderElectionNamespace: string | undefined;
  readonly namespaces: readonly string[] | undefined;
  /** `host:port`, or `0`: not served. */
  readonly metricsBindAddress: string;
  readonly healthProbeBindAddress: string;
  /** Without a host: the loopback address only. */
  readonly profilingBindAddress: string;
  readonly webhookBindAddress: string;
  readonly webhookCertDir: string | undefined;
  readonly webhookUrl: string | undefined;
  readonly logLevel: LogLevel;
}

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Text of `--help`. */
export function usage(name: string): string {
  return `Runs ${name} until SIGTERM or SIGINT stops it; a second signal ends it immediately.

Flags:
  --health-probe-bind-address HOST:PORT  serves /healthz and /readyz; 0: nowhere (default :8081)
  --help                                 prints this
  --kubeconfig FILE                      default: the files of KUBECONFIG, else the cluster it runs in, else ~/.kube/config
  --leader-elect[=false]                 whether one of several acts, by a Lease (default: what the operator says)
  --leader-election-namespace NAME       where the Lease is (default: POD_NAMESPACE, else the namespace it runs in)
  --log-level LEVEL                      ${LOG_LEVELS.join(", ")} (default info)
  --metrics-bind-address HOST:PORT       serves /metrics without authentication; 0: not at all (default 127.0.0.1:8080)
  --namespaces NAME,...                  what it looks at (default: WATCH_NAMESPACE, else what the operator says)
  --profiling-bind-address HOST:PORT     serves /debug/pprof/profile and /debug/pprof/heap; without HOST to this machine only (default 0: nowhere)
  --webhook-bind-address HOST:PORT       serves webhooks, if it has some; 0: nowhere (default :9443)
  --webhook-cert-dir FOLDER              of tls.crt, tls.key and ca.crt (default: a certificate that replicas share by a Secret)
  --webhook-url URL                      where the API server finds webhooks (default: behind the Service of the operator's name)
`;
}

/**
 * Parses the flags, which have the names of controller-runtime and kubebuilder.
 *
 * @throws UsageError for an unknown flag or an invalid value.
 */
export function parseFlags(args: readonly string[], env: Readonly<Record<string, string | undefined>>): ProcessFlags {
  const values = parse(args);
  const logLevel = LOG_LEVELS.find((level) => level === (values["log-level"] ?? "info"));
  if (logLevel === undefined)
    throw new UsageError(
      `--log-level must be one of ${LOG_LEVELS.join(", ")}, not ${JSON.stringify(values["log-level"])}`,
    );
  const metricsBindAddress = values["metrics-bind-address"] ?? "127.0.0.1:8080";
  const healthProbeBindAddress = values["health-probe-bind-address"] ?? ":8081";
  checkAddress("--metrics-bind-address", metricsBindAddress);
  const webhookBindAddress = values["webhook-bind-address"] ?? ":9443";
  const webhookUrl = values["webhook-url"];
  checkAddress("--health-probe-bind-address", healthProbeBindAddress);
  checkAddress("--webhook-bind-address", webhookBindAddress);
  const profilingBindAddress = values["profiling-bind-address"] ?? "0";
  checkAddress("--profiling-bind-address", profilingBindAddress);
  if (webhookUrl !== undefined && !(URL.canParse(webhookUrl) && webhookUrl.startsWith("https://")))
    throw new UsageError(`--webhook-url must be an https:// URL, not ${JSON.stringify(webhookUrl)}`);
  return {
    help: values.help ?? false,
    kubeconfig: values.kubeconfig,
    leaderElect: values["leader-elect"],
    leaderElectionNamespace: values["leader-election-namespace"],
    namespaces: listOf(values.namespaces ?? env.WATCH_NAMESPACE),
    metricsBindAddress,
    healthProbeBindAddress,
    profilingBindAddress,
    webhookBindAddress,
    webhookCertDir: values["webhook-cert-dir"],
    webhookUrl,
    logLevel,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.map(withoutValue),
      allowNegative: true,
      options: {
        help: { type: "boolean", short: "h" },
        kubeconfig: { type: "string" },
        "leader-elect": { type: "boolean" },
        "leader-election-namespace": { type: "string" },
        namespaces: { type: "string" },
        "metrics-bind-address": { type: "string" },
        "health-probe-bind-address": { type: "string" },
        "profiling-bind-address": { type: "string" },
        "webhook-bind-address": { type: "string" },
        "webhook-cert-dir": { type: "string" },
        "webhook-url": { type: "string" },
        "log-level": { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message.split(". ")[0], { cause: error });
  }
}

/** Go's flags accept `--leader-elect=false`. */
function withoutValue(arg: string): string {
  if (arg === "--leader-elect=true") return "--leader-elect";
  return arg === "--leader-elect=false" ? "--no-leader-elect" : arg;
}

function listOf(text: string | undefined): readonly string[] | undefined {
  const names = (text ?? "").split(",").map((name) => name.trim());
  const given = names.filter((name) => name !== "");
  return given.length === 0 ? undefined : given;
}

export interface Address {
  /** `undefined`: all addresses of this machine. */
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * Parses a listen address.
 *
 * @returns `undefined` for `0`: not served.
 * @throws UsageError for an invalid address.
 */
export function checkAddress(flag: string, text: string): Address | undefined {
  if (text === "0") return undefined;
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new UsageError(`${flag} must be HOST:PORT, or 0 for nowhere, not ${JSON.stringify(text)}`);
  return { host: bracketed || plain || undefined, port: Number(port) };
}
