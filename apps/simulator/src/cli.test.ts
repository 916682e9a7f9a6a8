import { createServer } from "node:net";
import { readFile, readdir, stat } from "node:fs/promises";

import { expect, test } from "vitest";

import { type MemoryIoOptions, type CommandResult, kubewright as kubewrightInMemory } from "../test/memory-io.js";

/** Runs the command in this process, with files from a record or, as a fallback, from the disk. */
async function kubewright(
  args: readonly string[],
  files: Record<string, string> = {},
  options: MemoryIoOptions = {},
): Promise<CommandResult> {
  return kubewrightInMemory(args, {
    readFile: async (path) => files[path] ?? readFile(path, "utf8"),
    listFolder: async (path) =>
      files[path] === undefined && (await stat(path)).isDirectory()
        ? (await readdir(path)).map((name) => ({ name, isFolder: false }))
        : undefined,
    ...options,
  });
}

const pi = `
apiVersion: batch/v1
kind: Job
metadata: { name: pi }
spec:
  completions: 2
  template:
    metadata: { annotations: { sim.kubewright.dev/duration: 30s } }
    spec: { restartPolicy: Never, containers: [{ name: pi, image: perl }] }
`;

const everyMinute = (spec: string): string => `
apiVersion: batch/v1
kind: CronJob
metadata: { name: tick }
spec:
  ${spec}
  jobTemplate:
    spec:
      template:
        metadata: { annotations: { sim.kubewright.dev/duration: 90s } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: busybox }] }
`;

test("run simulates a Job to its end and prints its timeline and a summary", async () => {
  const { code, stdout, stderr } = await kubewright(["run", "pi.yaml", "--for", "10m"], { "pi.yaml": pi });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toContain("Job default/pi");
  expect(stdout).toMatch(/pi +─?█+.*Complete in \dm\d+s \(2 ok\)/);
  expect(stdout).toContain("Jobs  1 run, 1 complete, 0 failed, 0 skipped\nPods  2 started, 2 succeeded, 0 failed\n");
});

test("the trace on standard output is JSON lines and nothing else, from a header to an end", async () => {
  const { code, stdout } = await kubewright(["run", "pi.yaml", "--for", "10m", "--json", "-"], { "pi.yaml": pi });
  expect(code).toBe(0);
  const records = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; at?: string });
  expect(records[0]).toMatchObject({
    type: "header",
    seed: 1,
    start: "2026-01-01T00:00:00.000Z",
    end: "2026-01-01T00:10:00.000Z",
  });
  expect(records.at(-1)).toMatchObject({
    type: "end",
    at: "2026-01-01T00:10:00.000Z",
    concurrent: { pods: { max: 1 } },
  });
  expect(new Set(records.map(({ type }) => type))).toEqual(new Set(["header", "object", "event", "decision", "end"]));
  const times = records.flatMap(({ at }) => (at === undefined ? [] : [at]));
  expect(times).toEqual([...times].sort());
});

test("equal seeds give equal bytes, another seed other pod names", async () => {
  const simulate = async (seed: string): Promise<string> =>
    (await kubewright(["run", "pi.yaml", "--for", "10m", "--seed", seed, "--json", "-"], { "pi.yaml": pi })).stdout;
  const first = await simulate("1");
  expect(await simulate("1")).toBe(first);
  const names = (trace: string): string[] => [...trace.matchAll(/"name":"(pi-[a-z0-9]{5})"/g)].map(([, name]) => name!);
  expect(names(first)).not.toEqual([]);
  expect(names(await simulate("2")).filter((name) => names(first).includes(name))).toEqual([]);
});

test("Forbid with a deadline shows the skipped runs with their reason", async () => {
  const manifest = everyMinute('schedule: "* * * * *"\n  concurrencyPolicy: Forbid\n  startingDeadlineSeconds: 10');
  const { stdout } = await kubewright(["run", "tick.yaml", "--for", "6m"], { "tick.yaml": manifest });
  expect(stdout).toMatch(/skipped: tick-\d+ still active past the deadline/);
});

test("--json FILE writes the trace beside the timeline", async () => {
  const { stdout, written } = await kubewright(["run", "pi.yaml", "--for", "5m", "--json", "trace.jsonl"], {
    "pi.yaml": pi,
  });
  expect(stdout).toContain("Job default/pi");
  expect(written["trace.jsonl"]!.split("\n")[0]).toContain('"type":"header"');
});

test.each([
  ["a missing file", ["run", "gone.yaml"], "kubewright: gone.yaml: no such file or folder\n"],
  ["a manifest that is not YAML", ["run", "bad.yaml"], /^kubewright: bad\.yaml:\d+:\d+: not YAML: .*\n$/],
  [
    "an unknown kind",
    ["run", "kind.yaml"],
    "kubewright: ignored: 1 Frobnicator (not simulated)\nkubewright: nothing is left to simulate\n",
  ],
  [
    "an invalid schedule",
    ["run", "schedule.yaml"],
    /^kubewright: schedule\.yaml:6:13: CronJob tick: spec\.schedule: Invalid value: "61 \* \* \* \*": end of range \(61\) above maximum \(59\): 61\n$/,
  ],
  [
    "a time that is none",
    ["run", "pi.yaml", "--start", "noon"],
    'kubewright: --start: "noon" is not a time; write for example 2026-03-28T22:00:00Z\n',
  ],
  [
    "a duration that is none",
    ["run", "pi.yaml", "--for", "long"],
    'kubewright: --for: "long" is not a duration; write for example 30d, 1d12h, 90m or 45s\n',
  ],
  ["an invalid seed", ["run", "pi.yaml", "--seed", "x"], /^kubewright: --seed: "x" is not a whole number/],
  [
    "no file at all",
    ["run"],
    "kubewright: name manifest files to simulate, a scenario or a cluster: kubewright run FILE…, kubewright run --scenario FILE, kubewright run --from-cluster; or write a .kubewright.yaml\n",
  ],
  [
    "a hundred years",
    ["run", "pi.yaml", "--for", "36500d"],
    "kubewright: --for: 36500d is longer than ten years; write 3650d at most\n",
  ],
  [
    "a manifest for a scenario",
    ["run", "--scenario", "pi.yaml"],
    "kubewright: pi.yaml: is a Job and no scenario; give it without --scenario, or write it into the `manifests` of one\n",
  ],
  [
    "a scenario for a manifest",
    ["run", "scenario.yaml"],
    "kubewright: scenario.yaml:1: is a scenario and no manifest; run it with --scenario scenario.yaml\n",
  ],
  ["an unknown flag", ["run", "pi.yaml", "--frob"], "kubewright: unknown option '--frob' (Did you mean --for?)\n"],
  ["an unknown command", ["frob"], "kubewright: unknown command 'frob'\n"],
  [
    "a port that is none",
    ["serve", "--port", "http"],
    'kubewright: --port: "http" is not a port number from 0 to 65535\n',
  ],
  [
    "letting other machines in unasked",
    ["serve", "--host", "0.0.0.0"],
    "kubewright: --host: other machines could do anything at 0.0.0.0: add --token or --token-file, or --tls with --kubeconfig; --allow-anonymous accepts every client\n",
  ],
  [
    "listening everywhere by leaving the address out",
    ["serve", "--host", ""],
    'kubewright: --host: "" is neither an address nor a host name\n',
  ],
  [
    "no client can authenticate",
    ["serve", "--tls"],
    "kubewright: --tls: no client could authenticate: add --kubeconfig, for the client certificate that is written into it, or --token or --token-file\n",
  ],
  [
    "an allowed host with its port",
    ["serve", "--allowed-hosts", "kube.test, kube.test:8001"],
    'kubewright: --allowed-hosts: "kube.test:8001" is neither a host name nor an address without a port\n',
  ],
  [
    "a threshold that is none",
    ["serve", "--terminated-pod-gc-threshold", "many"],
    'kubewright: --terminated-pod-gc-threshold: "many" is not a whole number\n',
  ],
  [
    "an unknown kubelet",
    ["serve", "--kubelet", "real"],
    'kubewright: --kubelet: "real" is not one of simulated, process, none\n',
  ],
  [
    "processes for other machines",
    ["serve", "--kubelet", "process", "--token", "s3cret", "--host", "0.0.0.0"],
    "kubewright: --kubelet process: other machines could run commands as you at 0.0.0.0: leave out --host, or use 127.0.0.1\n",
  ],
  [
    "processes for any client",
    ["serve", "--kubelet", "process"],
    "kubewright: --kubelet process: any program on this machine could run commands as you: add --token or --token-file\n",
  ],
  [
    "processes for anonymous clients",
    ["serve", "--kubelet", "process", "--token", "s3cret", "--allow-anonymous"],
    "kubewright: --kubelet process: any client could run commands as you: leave out --allow-anonymous\n",
  ],
  [
    "processes in another time",
    ["serve", "--kubelet", "process", "--token", "s3cret", "--speed", "60"],
    "kubewright: --kubelet process: processes run in real time: leave out --speed\n",
  ],
  [
    "processes where there are none",
    ["serve", "--kubelet", "process", "--token", "s3cret"],
    "kubewright: --kubelet process: this system has no process groups, so processes could not be stopped safely\n",
  ],
  [
    "an unknown controller",
    ["serve", "--controllers", "jobb"],
    'kubewright: --controllers: "jobb" is not in the list of known controllers\n',
  ],
  [
    "an unknown feature gate",
    ["serve", "--feature-gates", "ShardedListAndWatch=true,Foo=true"],
    "kubewright: --feature-gates: unrecognized feature gate: Foo\n",
  ],
  [
    "a feature gate of a later release",
    ["serve", "--kubernetes", "1.35", "--feature-gates", "ShardedListAndWatch=true"],
    "kubewright: --feature-gates: unrecognized feature gate: ShardedListAndWatch\n",
  ],
  [
    "a feature gate without a value",
    ["serve", "--feature-gates", "ShardedListAndWatch"],
    "kubewright: --feature-gates: missing bool value for ShardedListAndWatch\n",
  ],
  [
    "a file to write that is read as well",
    ["run", "pi.yaml", "--json", "pi.yaml"],
    "kubewright: --json: pi.yaml is already in use by this command; name another file\n",
  ],
  [
    "a comparison written over what it compares",
    ["run", "pi.yaml", "--against", "kind.yaml", "--json", "kind.yaml"],
    "kubewright: --json: kind.yaml is already in use by this command; name another file\n",
  ],
  [
    "an alias without its anchor",
    ["run", "alias.yaml"],
    "kubewright: alias.yaml:1:65: not YAML: there is no anchor &pod before the alias *pod\n",
  ],
  [
    "an object that contains itself",
    ["run", "circle.yaml"],
    "kubewright: circle.yaml:1:68: not YAML: the anchor &a contains itself; write the value out\n",
  ],
  [
    "what would drive the terminal",
    ["run", "escape.yaml"],
    "kubewright: ignored: 1 \\x1b[31mJob (not simulated)\nkubewright: nothing is left to simulate\n",
  ],
  [
    "a node with a label that is none",
    ["run", "--scenario", "label.yaml"],
    /^kubewright: nodes: Node "a" is invalid: metadata\.labels: .*\n$/,
  ],
  [
    "a schedule that does not parse",
    ["schedule", "* * * *"],
    "kubewright: expected exactly 5 fields, found 4: [* * * *]\n",
  ],
  [
    "a time zone that does not exist",
    ["schedule", "@daily", "--time-zone", "Mars/Olympus"],
    /^kubewright: .*unknown time zone Mars\/Olympus\n$/,
  ],
])("%s is one line on stderr and status 2", async (_title, args, message) => {
  const files = {
    "pi.yaml": pi,
    "bad.yaml": "a: [1,\nb",
    "scenario.yaml": "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\n",
    "alias.yaml": "{ apiVersion: batch/v1, kind: Job, metadata: { name: a }, spec: *pod }",
    "circle.yaml": "{ apiVersion: v1, kind: ConfigMap, metadata: &a { name: x, labels: *a } }",
    "escape.yaml": '{ apiVersion: batch/v1, kind: "\\e[31mJob", metadata: { name: a } }',
    "label.yaml": `{ apiVersion: sim.kubewright.dev/v1, kind: Scenario, nodes: [{ name: a, labels: { "a b": c } }], manifests: [pi.yaml] }`,
    "kind.yaml": "apiVersion: example.com/v1\nkind: Frobnicator\nmetadata: { name: x }\n",
    "schedule.yaml": everyMinute('schedule: "61 * * * *"'),
  };
  const { code, stdout, stderr } = await kubewright(args, files);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toMatch(
    typeof message === "string" ? new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`) : message,
  );
});

test("a port in use is named", async () => {
  const squatter = createServer();
  const port = await new Promise<number>((resolve) =>
    squatter.listen(0, "127.0.0.1", () => resolve((squatter.address() as { port: number }).port)),
  );
  try {
    const { code, stderr } = await kubewright(["serve", "--port", String(port)]);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^kubewright: .*127\\.0\\.0\\.1:${port}.*\n$`));
  } finally {
    squatter.close();
  }
});

test("help and version go to standard output with status 0", async () => {
  for (const command of [[], ["run"], ["learn"], ["serve"], ["schedule"], ["why"]]) {
    const { code, stdout, stderr } = await kubewright([...command, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Examples:");
  }
  expect((await kubewright(["--version"])).stdout).toBe("1.2.3\n");
});

test("help has the most used options, and --help-all has all in groups", async () => {
  const optionsOf = (text: string): string[] =>
    [...text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, name]) => name!);
  const { stdout: brief } = await kubewright(["run", "--help"]);
  expect(optionsOf(brief)).toEqual(
    "--for --start --duration --fail-on --html --seeds --against --from-cluster --help-all --help".split(" "),
  );
  const { code, stdout: full, stderr } = await kubewright(["run", "--help-all"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(optionsOf(full)).toEqual(
    expect.arrayContaining(["--for", "--scenario", "--kubeconfig", "--sarif", "--chunk"]),
  );
  const [, count] = /display (\d+) more options/.exec(brief)!;
  expect(optionsOf(full)).toHaveLength(optionsOf(brief).length - 1 + Number(count));
  expect([...full.matchAll(/^(\w[\w ]*):$/gm)].map(([, title]) => title)).toEqual([
    "Arguments",
    "Options",
    "Simulation",
    "Manifests",
    "Live cluster",
    "Output",
    "Seeds on a cluster",
    "Examples",
  ]);
  expect((await kubewright(["schedule", "--help-all"])).stdout).toContain("Examples:");
});

test("schedule prints the runs of a zone across its DST gap", async () => {
  const { stdout } = await kubewright([
    "schedule",
    "30 2 * * *",
    "--time-zone",
    "America/New_York",
    "--from",
    "2024-03-09T00:00:00Z",
    "--count",
    "2",
  ]);
  expect(stdout).toBe(
    "Sat 2024-03-09 02:30:00 -05:00  2024-03-09T07:30:00Z\n  × Sun 2024-03-10 02:30: clocks go forward from 02:00 to 03:00, so no run\nMon 2024-03-11 02:30:00 -04:00  2024-03-11T06:30:00Z\n",
  );
});

test("the examples finish within a virtual day", async () => {
  const { code, stdout } = await kubewright(["run", "examples"]);
  expect(code).toBe(0);
  expect(stdout).toContain("CronJob default/hourly-report");
  expect(stdout).toMatch(/pi +█.*Complete/);
  expect(stdout).toMatch(/resize-shards .*Failed after .*FailedIndexes \[3\]/);
  expect(stdout).toContain("skipped: hourly-report-");
});

test("a scenario is simulated, with its description and events above the timeline", async () => {
  const { code, stdout, stderr } = await kubewright(["run", "--scenario", "examples/scenarios/podgc-race.yaml"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/2026-01-05T08:00:00Z → 2026-01-05T08:30:00Z \(30m of virtual time, seed 1\)/);
  expect(stdout).toMatch(/\n\nThe Node objects of two machines are deleted .*\n/);
  expect(stdout).toContain("  2026-01-05T08:05:00Z  delete  a user deletes Node spot-slow\n");
  expect(stdout.indexOf("Events")).toBeLessThan(stdout.indexOf("Job default/slow"));
  expect(stdout).toContain("Pods  3 started");
});

test("flags and files on the command line go with a scenario", async () => {
  const { stdout } = await kubewright(
    ["run", "pi.yaml", "--scenario", "examples/scenarios/podgc-race.yaml", "--for", "10m", "--seed", "3"],
    { "pi.yaml": pi },
  );
  expect(stdout).toContain("(10m of virtual time, seed 3)");
  expect(stdout).toContain("Job default/pi");
  expect(stdout).toContain("Job default/slow");
});

test("each mistake in a scenario is printed on one line, with status 2", async () => {
  const { code, stdout, stderr } = await kubewright(["run", "--scenario", "s.yaml"], {
    "s.yaml": "apiVersion: sim.kubewright.dev/v1\nkind: Scenario\nfro: 1d\nseed: -1\n",
  });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")).toEqual([
    'kubewright: s.yaml:3:1: fro: is not a field of this; did you mean "for"?',
    "kubewright: s.yaml:4:7: seed: -1 is too small; at least 0 is needed",
    "",
  ]);
});

test("a stopped run prints its results so far, and exits with 130", async () => {
  const stop = new AbortController();
  const { code, stdout, stderr } = await kubewright(
    ["run", "pi.yaml", "--for", "30d", "--json", "trace.jsonl"],
    { "pi.yaml": pi },
    {
      stopped: stop.signal,
      openFile: async () => ({ write: async () => stop.abort(), close: async () => {}, discard: async () => {} }),
    },
  );
  expect(code).toBe(130);
  expect(stdout).toContain("2026-01-01T00:00:00Z → 2026-01-01T01:00:00Z (1h of virtual time, seed 1; repeat with ");
  expect(stdout).toContain("Pods  2 started");
  expect(stderr).toBe("kubewright: stopped after 1h of 30d\n");
});

test.each(["--json", "--html"])("a full disk is reported in one line: %s", async (flag) => {
  const full = async (): Promise<never> => Promise.reject(new Error("ENOSPC: no space left on device, write"));
  const { code, stderr } = await kubewright(
    ["run", "pi.yaml", "--for", "5m", flag, "out"],
    { "pi.yaml": pi },
    {
      openFile: async () => ({ write: full, close: async () => {}, discard: async () => {} }),
      pageAssets: async () => ({ script: "", style: "", scriptHash: "sha256-a", styleHash: "sha256-b" }),
    },
  );
  expect(code).toBe(2);
  expect(stderr).toBe(`kubewright: ${flag}: cannot write out: ENOSPC: no space left on device, write\n`);
});

test("a schedule that matches no date is reported as never running, by run and by schedule", async () => {
  const manifest = everyMinute('schedule: "0 0 31 2 *"');
  const simulated = await kubewright(["run", "tick.yaml", "--for", "2d"], { "tick.yaml": manifest });
  const never = "never: no run within five years of 2026-01-01T00:00:00Z";
  expect(simulated.stdout).toContain(`  default/tick: "0 0 31 2 *" runs ${never}\n`);
  expect(simulated.stdout).toContain(`  ${never}\n`);
  const asked = await kubewright(["schedule", "0 0 31 2 *", "--from", "2026-01-01T00:00:00Z"]);
  expect(asked.stdout).toBe(`${never}\n`);
});
