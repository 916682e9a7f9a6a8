import { expect, test } from "vitest";

import { parseCommandLine } from "./command-line.js";
import { UsageError } from "./flag-values.js";
import { type ControllerManagerOptions, defaultOptions } from "./options.js";

function parse(content: string, ...args: string[]) {
  const readFile = (path: string): string => {
    if (path === "config.yaml") return content;
    throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
  };
  return parseCommandLine(["--config=config.yaml", ...args], { readFile });
}

function options(content: string, ...args: string[]): ControllerManagerOptions {
  const invocation = parse(content, ...args);
  if (invocation.command !== "run") throw new Error(`asked for ${invocation.command}`);
  return invocation.options;
}

function problem(content: string, ...args: string[]): string {
  try {
    parse(content, ...args);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

test("keys are the names of flags; lists, booleans, numbers and durations are YAML's", () => {
  const content = `
# how we run it
controllers: [job, -cronjob]
leader-elect: false
kube_api_qps: 50.5
concurrent-job-syncs: 10
leader-elect-lease-duration: 30s
min-resync-period: 0
namespace:
  - b
  - a
feature-gates:
  LoggingBetaOptions: true
tls-sni-cert-key: a.crt,a.key
cluster-cidr: 10.0.0.0/8
`;
  expect(options(content)).toMatchObject({
    controllers: ["job-controller", "-cronjob-controller"],
    leaderElect: false,
    kubeApiQps: 50.5,
    concurrentJobSyncs: 10,
    leaderElectLeaseDurationMs: 30_000,
    minResyncPeriodMs: 0,
    namespaces: ["a", "b"],
    featureGates: ["LoggingBetaOptions=true"],
    tlsSniCertKeys: ["a.crt,a.key"],
  });
  expect(parse(content)).toMatchObject({ ignored: ["cluster-cidr"] });
});

test("namespaces that are split are a mapping, or a list", () => {
  const mapping = "sharding: namespaces\nsharding-split-namespaces:\n  batch: 4\n  web: 2\n";
  const list = "sharding: namespaces\nsharding-split-namespaces: [batch=4, web=2]\n";
  for (const content of [mapping, list]) expect(options(content).shardingSplitNamespaces).toEqual(["batch=4", "web=2"]);
});

test("the command line beats the file, lists included, wherever --config stands", () => {
  const content = "kube-api-burst: 5\nkube-api-qps: 6\ncontrollers: [job]\n";
  expect(options(content, "--kube-api-burst=7", "--controllers=cronjob")).toMatchObject({
    kubeApiBurst: 7,
    kubeApiQps: 6,
    controllers: ["cronjob-controller"],
  });
});

test.each([[""], ["# nothing\n"], ["---\n"]])("a file without content changes nothing: %j", (content) => {
  expect(options(content)).toEqual(defaultOptions);
});

test.each([
  ["leader-elect: true\nnope: 1\n", 'config.yaml:2: unknown key "nope"'],
  ["\n\nleader-elect: maybe\n", 'config.yaml:3: leader-elect: it must be true or false, not "maybe"'],
  ["kube-api-burst: many\n", 'config.yaml:1: kube-api-burst: it must be a whole number, not "many"'],
  [
    "kube-api-burst: 1.5\n",
    'config.yaml:1: kube-api-burst: invalid argument "1.5" for "kube-api-burst" flag: strconv.ParseInt: parsing "1.5": invalid syntax',
  ],
  ["min-resync-period: 5\n", 'config.yaml:1: min-resync-period: it must be a duration such as "10s", not 5'],
  ["controllers: [1]\n", "config.yaml:1: controllers: it must be a list of strings, not [1]"],
  ["kubeconfig: null\n", "config.yaml:1: kubeconfig: it must be a string, not null"],
  ["kubeconfig:\n  a: b\n", 'config.yaml:1: kubeconfig: it must be a string, not {"a":"b"}'],
  ["- a\n", "config.yaml:1: it must be a mapping of flag names to values"],
  ["v: 1\nv: 2\n", "config.yaml:2: Map keys must be unique"],
  ["v: 1\ncontrollers: *nope\n", /^config\.yaml:2: controllers: Unresolved alias/],
  ["controllers: [*, -job]\n", "config.yaml:1: Alias cannot be an empty string"],
  ["version: true\n", 'config.yaml:1: unknown key "version"'],
  [
    "sharding-split-namespaces: { batch: yes }\n",
    'config.yaml:1: sharding-split-namespaces: it must be a mapping of namespaces to numbers, or a list of namespace=parts, not {"batch":"yes"}',
  ],
  ["a: [\n", /^config\.yaml:2: [^\n]+$/],
])("%j is refused in one line with file, line and key: %s", (content, message) => {
  expect(problem(content)).toMatch(message);
  expect(problem(content)).not.toContain("\n");
});

test("values of the file are validated with those of the command line", () => {
  expect(problem("concurrent-job-syncs: 0\n", "--concurrent-cron-job-syncs=-1")).toBe(
    "[concurrent-job-syncs must be greater than 0, but got 0, concurrent-cron-job-syncs must be greater than 0, but got -1]",
  );
});

test("a missing file is wrong usage", () => {
  expect(() => parseCommandLine(["--config=gone.yaml"], { readFile: readNothing })).toThrow(
    'error reading config file "gone.yaml": no such file or directory',
  );
});

function readNothing(): never {
  throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
}
