import { expect, test } from "vitest";

import { parseCommandLine } from "./command-line.js";
import { UsageError } from "./flag-values.js";
import { FLAGS } from "./flags.js";
import { type ControllerManagerOptions, defaultOptions } from "./options.js";

function options(...args: string[]): ControllerManagerOptions {
  const invocation = parseCommandLine(args);
  if (invocation.command !== "run") throw new Error(`asked for ${invocation.command}`);
  return invocation.options;
}

function usageError(...args: string[]): string {
  try {
    parseCommandLine(args);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

test("without flags everything has upstream's default", () => {
  expect(options()).toEqual(defaultOptions);
});

test("values follow a blank or an equals sign, and underscores are dashes", () => {
  expect(
    options("--kubeconfig", "/k", "--kube_api_burst=50", "--kube-api-qps", "0.5", "--concurrent-job-syncs=7"),
  ).toMatchObject({
    kubeconfig: "/k",
    kubeApiBurst: 50,
    kubeApiQps: 0.5,
    concurrentJobSyncs: 7,
  });
});

test("a boolean flag alone means true; another value needs an equals sign", () => {
  expect(options("--leader-elect").leaderElect).toBe(true);
  expect(options("--leader-elect=false").leaderElect).toBe(false);
  expect(usageError("--leader-elect", "false")).toBe(
    '"kubewright-controller-manager" does not take any arguments, got ["false"]',
  );
});

test("the first --controllers replaces the default, later ones add to it, and aliases are replaced", () => {
  expect(options("--controllers=job", "--controllers", "-cronjob,podgc").controllers).toEqual([
    "job-controller",
    "-cronjob-controller",
    "pod-garbage-collector-controller",
  ]);
  expect(options("--controllers=").controllers).toEqual([]);
});

test("durations are read in Go's form", () => {
  const {
    leaderElectLeaseDurationMs,
    leaderElectRenewDeadlineMs,
    leaderElectRetryPeriodMs,
    minResyncPeriodMs,
    controllerStartIntervalMs,
  } = options(
    "--leader-elect-lease-duration=1m30s",
    "--leader-elect-renew-deadline=1.5s",
    "--leader-elect-retry-period=300ms",
    "--min-resync-period=12h0m0s",
    "--controller-start-interval=0",
  );
  expect([
    leaderElectLeaseDurationMs,
    leaderElectRenewDeadlineMs,
    leaderElectRetryPeriodMs,
    minResyncPeriodMs,
    controllerStartIntervalMs,
  ]).toEqual([90_000, 1_500, 300, 43_200_000, 0]);
});

test.each([["-v=4"], ["-v4"], ["-v", "4"], ["--v=4"], ["--v", "4"]])("verbosity is set by %j %s", (...args) => {
  expect(options(...args).verbosity).toBe(4);
});

test.each([
  [["--nope"], "unknown flag: --nope"],
  [["--nope=1"], "unknown flag: --nope"],
  [["-x"], "unknown shorthand flag: 'x' in -x"],
  [["--kubeconfig"], "flag needs an argument: --kubeconfig"],
  [["-v"], "flag needs an argument: 'v' in -v"],
  [["run"], '"kubewright-controller-manager" does not take any arguments, got ["run"]'],
  [
    ["--kube-api-burst=abc"],
    'invalid argument "abc" for "--kube-api-burst" flag: strconv.ParseInt: parsing "abc": invalid syntax',
  ],
  [
    ["--kube-api-qps=x"],
    'invalid argument "x" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "x": invalid syntax',
  ],
  [
    ["--leader-elect=maybe"],
    'invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [["-v=x"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  [
    ["--min-resync-period=5"],
    'invalid argument "5" for "--min-resync-period" flag: time: missing unit in duration "5"',
  ],
  [
    ["--min-resync-period=5x"],
    'invalid argument "5x" for "--min-resync-period" flag: time: unknown unit "x" in duration "5x"',
  ],
  [
    ["--min-resync-period=soon"],
    'invalid argument "soon" for "--min-resync-period" flag: time: invalid duration "soon"',
  ],
  [
    ["--min-resync-period=5constructor"],
    'invalid argument "5constructor" for "--min-resync-period" flag: time: unknown unit "constructor" in duration "5constructor"',
  ],
  [["--controllers=-*"], '"*" is not in the list of known controllers'],
  [["--logging-format=xml"], 'format: Invalid value: "xml": Unsupported log format'],
  [["--leader-elect-resource-lock=configmaps"], 'resourceLock value must be "leases"'],
  [["--leader-elect-lease-duration=10s"], "leaseDuration must be greater than renewDeadline"],
  [["--leader-elect-renew-deadline=2s"], "renewDeadline must be greater than retryPeriod*JitterFactor"],
  [
    ["--concurrent-job-syncs=0", "--concurrent-cron-job-syncs=-1"],
    "[concurrent-job-syncs must be greater than 0, but got 0, concurrent-cron-job-syncs must be greater than 0, but got -1]",
  ],
])("%j is wrong usage: %s", (args, message) => {
  expect(usageError(...args)).toBe(message);
});

test("without leader election its other flags are not checked", () => {
  expect(options("--leader-elect=false", "--leader-elect-resource-lock=configmaps").leaderElectResourceLock).toBe(
    "configmaps",
  );
});

test("--version is answered although other values contradict each other, but not with an unknown gate", () => {
  expect(parseCommandLine(["--version", "--concurrent-job-syncs=0"])).toEqual({ command: "version", raw: false });
  expect(parseCommandLine(["--version=raw"])).toEqual({ command: "version", raw: true });
  expect(usageError("--version", "--feature-gates=Nope=true")).toBe("unrecognized feature gate: Nope");
});

test("--version=vX calls this version something else of the same number", () => {
  const context = { version: "1.2.3" };
  expect(parseCommandLine(["--version=v1.2.3-mine"], context)).toMatchObject({ version: "v1.2.3-mine" });
  expect(parseCommandLine(["--version=false"], context)).toMatchObject({ command: "run" });
  expect(() => parseCommandLine(["--version=v1.2.4"], context)).toThrow(
    'invalid argument "v1.2.4" for "--version" flag: version "v1.2.4" must match major/minor/patch of default version "v1.2.3"',
  );
});

test("what kubeadm passes is accepted; flags of other controllers are only remembered", () => {
  const given = [
    "--allocate-node-cidrs=true",
    "--authentication-kubeconfig=/etc/kubernetes/controller-manager.conf",
    "--authorization-kubeconfig=/etc/kubernetes/controller-manager.conf",
    "--bind-address=127.0.0.1",
    "--client-ca-file=/etc/kubernetes/pki/ca.crt",
    "--cluster-cidr=10.244.0.0/16",
    "--cluster-name=kubernetes",
    "--cluster-signing-cert-file=/etc/kubernetes/pki/ca.crt",
    "--cluster-signing-key-file=/etc/kubernetes/pki/ca.key",
    "--controllers=*,bootstrapsigner,tokencleaner",
    "--kubeconfig=/etc/kubernetes/controller-manager.conf",
    "--leader-elect=true",
    "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
    "--root-ca-file=/etc/kubernetes/pki/ca.crt",
    "--service-account-private-key-file=/etc/kubernetes/pki/sa.key",
    "--service-cluster-ip-range=10.96.0.0/12",
    "--use-service-account-credentials=true",
  ];
  const invocation = parseCommandLine(given);
  expect(invocation).toMatchObject({
    command: "run",
    ignored: [
      "allocate-node-cidrs",
      "cluster-cidr",
      "cluster-signing-cert-file",
      "cluster-signing-key-file",
      "root-ca-file",
      "service-account-private-key-file",
      "service-cluster-ip-range",
    ],
    options: {
      bindAddress: "127.0.0.1",
      clientCaFile: "/etc/kubernetes/pki/ca.crt",
      controllers: ["*", "bootstrap-signer-controller", "token-cleaner-controller"],
      useServiceAccountCredentials: true,
    },
  });
});

test("flags of the server, of access to it, of metrics and of tuning reach the options", () => {
  expect(
    options(
      "--secure-port=0",
      "--bind-address=::1",
      "--tls-sni-cert-key=a.crt,a.key:example.com",
      "--tls-sni-cert-key=b.crt,b.key",
      "--authorization-always-allow-paths=/metrics",
      "--requestheader-username-headers=x-user,x-remote-user",
      "--allow-metric-labels=m,l='a,b'",
      "--disabled-metrics=one,two",
      "--job-pod-failure-backoff-base=100ms",
      "--job-pod-failure-backoff-max=1s",
      "--job-sync-batch-period=0",
      "--job-max-uncounted-pods=10",
      "--job-max-pod-create-delete-per-sync=20",
      "--podgc-period=1s",
      "--podgc-quarantine=2s",
    ),
  ).toMatchObject({
    securePort: 0,
    bindAddress: "::1",
    tlsSniCertKeys: ["a.crt,a.key:example.com", "b.crt,b.key"],
    authorizationAlwaysAllowPaths: ["/metrics"],
    requestheaderUsernameHeaders: ["x-user", "x-remote-user"],
    allowMetricLabels: ["m,l='a,b'"],
    disabledMetrics: ["one", "two"],
    jobPodFailureBackoffBaseMs: 100,
    jobPodFailureBackoffMaxMs: 1_000,
    jobSyncBatchPeriodMs: 0,
    jobMaxUncountedPods: 10,
    jobMaxPodCreateDeletePerSync: 20,
    podgcPeriodMs: 1_000,
    podgcQuarantineMs: 2_000,
  });
});

test.each([
  [["--=x"], "bad flag syntax: --=x"],
  [
    ["--secure-port=70000"],
    "--secure-port 70000 must be between 0 and 65535, inclusive. 0 for turning off secure port",
  ],
  [["--bind-address=nowhere"], 'invalid argument "nowhere" for "--bind-address" flag: failed to parse IP: "nowhere"'],
  [["--tls-min-version=TLS1"], 'unknown tls version "TLS1"'],
  [["--tls-cert-file=a"], "--tls-cert-file and --tls-private-key-file must be given together"],
  [["--requestheader-group-headers=a,"], 'empty value in "requestheader-group-headers"'],
  [["--authorization-always-allow-paths=/a*/b"], 'only trailing * allowed in "/a*/b"'],
  [
    ["--logging-format=json", "--vmodule=a=1"],
    '[format: Invalid value: "json": Non-default format doesn\'t honor flag: vmodule, vmodule: Forbidden: Only supported for text log format]',
  ],
  [["--vmodule=a"], '"a" does not have the pattern=N format'],
  [["--log-flush-frequency=0"], "flushFrequency: Invalid value: 0: Must be greater than zero"],
  [["--log-text-split-stream"], "options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled"],
  [
    ["--logging-format=json", "--feature-gates=LoggingBetaOptions=false"],
    "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature",
  ],
  [["--emulated-version=kube=1.36.1"], "patch version not allowed, got: kube=1.36.1"],
  [["--emulated-version=x=1.36"], "component not registered: x"],
  [
    ["--concurrent-ttl-after-finished-syncs=0"],
    "concurrent-ttl-after-finished-syncs must be greater than 0, but got 0",
  ],
  [["--job-pod-failure-backoff-base=0"], "job-pod-failure-backoff-base must be longer than 0s"],
  [
    ["--job-pod-failure-backoff-max=1s"],
    "job-pod-failure-backoff-max must not be shorter than job-pod-failure-backoff-base",
  ],
  [["--controllers=Job"], '"Job" is not in the list of known controllers'],
  [["--controllers=*, -job"], '" -job" is not in the list of known controllers'],
  [
    ["--managed-by=mine"],
    '--managed-by "mine" must be a domain-prefixed path of at most 63 characters (such as "acme.io/foo")',
  ],
  [
    ["--managed-by=kubernetes.io/job-controller"],
    "--managed-by kubernetes.io/job-controller names the built-in controller: switch that off and pass --take-over instead",
  ],
  [["--sharding=jobs"], '--sharding "jobs" must be "namespaces"'],
  [
    ["--sharding=namespaces", "--namespace=a"],
    "--sharding shares all namespaces: it cannot be combined with --namespace, leave one of them out",
  ],
  [
    ["--sharding=namespaces", "--leader-elect=false"],
    "--sharding works by Leases: it cannot be combined with --leader-elect=false, leave one of them out",
  ],
  [
    ["--sharding=namespaces", "--use-service-account-credentials"],
    "--sharding cannot be combined with --use-service-account-credentials, leave one of them out",
  ],
  [
    ["--sharding=namespaces", "--leader-elect-renew-deadline=12s"],
    "--sharding: renewDeadline must be at least 0.5s shorter than 0.8 of leaseDuration",
  ],
  [
    ["--sharding=namespaces", "--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=3s"],
    "--sharding: renewDeadline must be longer than two of retryPeriod: one late renewal would stop all work",
  ],
  [
    ["--sharding-split-namespaces=batch=4"],
    "--sharding-split-namespaces needs --sharding namespaces: add it, or leave this one out",
  ],
  [
    ["--sharding=namespaces", "--sharding-split-namespaces=batch"],
    '--sharding-split-namespaces: "batch" is not NAMESPACE=PARTS, such as batch=4',
  ],
  [
    ["--sharding=namespaces", "--sharding-split-namespaces=batch=1"],
    "--sharding-split-namespaces: namespace batch has 1 parts: it must be 2 to 16",
  ],
  [
    ["--sharding=namespaces", "--sharding-split-namespaces=a=2,B=2"],
    '--sharding-split-namespaces: "B" is no name of a namespace',
  ],
  [
    ["--sharding=namespaces", ...Array.from({ length: 17 }, (_, index) => `--sharding-split-namespaces=ns-${index}=2`)],
    "--sharding-split-namespaces: 17 namespaces are split: at most 16 can be",
  ],
  [["--namespace=a,B"], '--namespace "B" is not the name of a namespace'],
  [
    ["--namespace=a", "--controllers=*,podgc"],
    "pod-garbage-collector-controller needs the whole cluster: leave it out of --controllers, or leave out --namespace",
  ],
  [
    ["--namespace=a", "--use-service-account-credentials"],
    "--use-service-account-credentials needs kube-system: it cannot be combined with --namespace",
  ],
  [["--cluster-cidr"], "flag needs an argument: --cluster-cidr"],
])("%j is refused: %s", (args, message) => {
  expect(usageError(...args)).toBe(message);
});

test("--managed-by and --namespace choose the Lease, unless it is named", () => {
  expect(options("--managed-by=acme.io/jobs").leaderElectResourceName).toBe(
    "kubewright-controller-manager-acme.io--jobs",
  );
  expect(options("--managed-by=acme.io/Jobs").leaderElectResourceName).toMatch(
    /^kubewright-controller-manager-acme\.io--jobs-[0-9a-f]{8}$/,
  );
  expect(options("--managed-by=acme.io/jobs", "--leader-elect-resource-name=x").leaderElectResourceName).toBe("x");
  expect(options("--namespace=b,a", "--namespace=a")).toMatchObject({
    namespaces: ["a", "b"],
    leaderElectResourceNamespace: "a",
  });
});

test("--sharding-split-namespaces is a list of namespaces with their parts, and may be repeated", () => {
  const given = ["--sharding=namespaces", "--sharding-split-namespaces=batch=4,web=2"];
  expect(options(...given, "--sharding-split-namespaces=web=3").shardingSplitNamespaces).toEqual([
    "batch=4",
    "web=2",
    "web=3",
  ]);
});

test("every row of the help belongs to a group, and no flag is defined twice", () => {
  const names = FLAGS.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  const invocation = parseCommandLine(["--help"]);
  const text = invocation.command === "help" ? invocation.text : "";
  for (const name of names) expect(text).toContain(name === "v" ? "-v, --v" : `--${name} <`);
  expect(text).not.toContain("--cluster-cidr");
  expect(text).toContain("kube:WorkloadWithJob=true|false (ALPHA - default=false)");
});

test.each([["--help"], ["-h"]])("%s shows every flag with its default, and examples", (flag) => {
  const invocation = parseCommandLine([flag]);
  if (invocation.command !== "help") throw new Error("no help");
  const { text } = invocation;
  expect(text).toMatch(/^Usage: kubewright-controller-manager \[flags\]/);
  for (const part of [
    "Generic flags:",
    "Leader election flags:",
    "--kube-api-qps <float>",
    "(default: 20)",
    "-v, --v <level>",
    "Examples:",
  ]) {
    expect(text).toContain(part);
  }
});
