import { InvalidNodeError } from "@kubewright/cluster";
import { Command, CommanderError } from "commander";

import type { FuzzFlags } from "./fuzz/fuzz-flags.js";
import { addIndexedJobOptions } from "./indexed-job/cli-options.js";
import { withFailExit } from "./indexed-job/fail-exit.js";
import { InterruptedError, ViolationsError, UserError, ClusterError } from "@kubewright/analysis/errors";
import type { Io } from "./io/io.js";
import { OutOfMemoryError } from "./nodejs/out-of-memory-error.js";
import type { LearnFlags } from "./commands/learn-command.js";
import type { LintFlags } from "./commands/lint-command.js";
import type { RunFlags } from "./commands/run-command.js";
import type { ScheduleFlags } from "./commands/schedule-command.js";
import type { ServeFlags } from "./commands/serve-command.js";
import type { SpreadFlags } from "./commands/spread-command.js";
import { printable } from "@kubewright/analysis/text";
import type { WhyFlags } from "./commands/why-command.js";

/**
 * Exit status: 0 success, 1 (or that of `--fail-exit`) findings or a failure, 2 wrong usage or input, 130 stopped by
 * the user.
 */
export type ExitCode = number;

/**
 * Runs the `kubewright` command. A user's mistake is printed as one line on stderr with status 2, without a stack
 * trace.
 *
 * @param args - Arguments after the command's name.
 */
export async function runCli(args: readonly string[], io: Io, version: string): Promise<ExitCode> {
  try {
    const faults = args.includes("fuzz") ? (await import("./fuzz/fuzz-flags.js")).faultsText() : "";
    await program(io, version, faults).parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UserError) {
      for (const line of error.message.split("\n")) io.stderr.write(`kubewright: ${printable(line)}\n`);
      return 2;
    }
    if (error instanceof InvalidNodeError) {
      io.stderr.write(`kubewright: nodes: ${printable(error.message)}\n`);
      return 2;
    }
    if (error instanceof ViolationsError) {
      for (const line of error.lines) io.stderr.write(`kubewright: ${printable(line)}\n`);
      return error.exitCode;
    }
    if (error instanceof InterruptedError) {
      io.stderr.write(`kubewright: ${error.message}\n`);
      return 130;
    }
    if (error instanceof ClusterError || error instanceof OutOfMemoryError) {
      io.stderr.write(`kubewright: ${printable(error.message)}\n`);
      return 1;
    }
    io.stderr.write(
      `kubewright: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  }
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Modules that only one command needs are loaded with that command. */
function program(io: Io, version: string, faults: string): Command {
  const root = new Command("kubewright")
    .description("A time machine for Kubernetes Jobs and CronJobs, and an embedded cluster kubectl can talk to.")
    .version(version, "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text.replace(/^error: /, "kubewright: ").replace("\n(Did", " (Did")),
      getOutHelpWidth: () => io.stdout.columns || 100,
    })
    .addHelpText(
      "after",
      "\nExamples:\n  $ kubewright run job.yaml --for 1d\n  $ kubewright serve --port 8001\n  $ kubewright schedule '30 2 * * *' --time-zone Europe/Berlin\n  $ kubewright lint manifests/\n  $ kubewright why cronjob/report\n  $ kubewright learn --from-cluster -o workloads.yaml",
    );

  root
    .command("run")
    .description("Simulate manifests on an embedded cluster in virtual time, and print what every Job did and why.")
    .argument("[path...]", "manifest files, folders of them, kustomizations, or - for standard input")
    .option("--scenario <file>", "scenario file with events: outages, lost nodes, edits; see docs/scenarios.md")
    .option("--start <time>", "where virtual time starts (default: the scenario's, or 2026-01-01T00:00:00Z)")
    .option("--for <duration>", "how much virtual time to simulate: 30d, 12h, 90m (default: the scenario's, or 1d)")
    .option("--seed <number>", "same seed, same run (default: the scenario's, or 1)")
    .option(
      "--seeds <range>",
      "simulate once for each seed of a range, and print how often each kind of incident occurs: 1-1000",
    )
    .option(
      "--workers <number>",
      "simulate each namespace separately, on its own nodes, on this number of threads; the output is the same for any number; with --seeds: number of threads (default: the machine's cores)",
    )
    .option(
      "--node-size <cores,memory>",
      "with --seeds: how many nodes of that size are enough, and in what share of the futures: 4,16Gi",
      collect,
    )
    .option(
      "--fail-on <rules>",
      "exit with status 1 when one of these occurs: skipped, missed, failed, late>10m, overlap, unschedulable, never-finished, peak-pods>50; with --against (where they are about B) changed; of some: 'billing/*:skipped'; with --seeds in more than a share of futures: skipped>1%",
      collect,
    )
    .option("--json <file>", "also write the trace as JSON lines; - writes only that, to standard output")
    .option("--against <file>", "simulate this changed file or folder in the same way, and print the differences")
    .option(
      "--kubernetes <version>",
      "release of Kubernetes to simulate: 1.31 to 1.36, or 1.36.2 (default: the cluster's with --from-cluster, or 1.36)",
    )
    .option(
      "--against-kubernetes <version>",
      "simulate the same manifests, or those of --against, with this release, and print the differences",
    )
    .option(
      "--html <file>",
      "also write a report to open in a browser, of one future or all: one file that works offline",
    )
    .option("--runs <file>", "also write one line a run, for a spreadsheet or a script: FILE.csv or FILE.jsonl")
    .option("--markdown <file>", "also write the results as a comment for a pull request")
    .option("--junit <file>", "also write a test for every rule of --fail-on and every CronJob, as JUnit does")
    .option("--sarif <file>", "also write violations and highlights, with their places in the manifests")
    .option("--ics <file>", "also write the runs as a calendar")
    .option("--from-cluster", "simulate the objects of a live cluster, from now on; only GET and LIST requests")
    .option("--kubeconfig <file>", "how to reach that cluster (default: KUBECONFIG, or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .option("-n, --namespace <namespace>", "namespace of the cluster to simulate (default: the context's namespace)")
    .option("-A, --all-namespaces", "simulate all namespaces of the cluster")
    .option("-l, --selector <labels>", "only CronJobs and Jobs with these labels, as in kubectl")
    .option("--controller-time-zone <zone>", "time zone of CronJobs that name none (default: the scenario's, or UTC)")
    .option("--workloads <file>", "how long containers run and how often they fail, as in a scenario's workloads")
    .option(
      "--duration <selection=time>",
      "how long they run: 'report=5m', 'billing/*=5m..40m', '*=lognormal(10m, 0.5)'",
      collect,
    )
    .option("--fail <selection=share>", "how often they fail: 'report=2%'", collect)
    .option(
      "--validate <mode>",
      "unknown fields: strict refuses them as kubectl apply does, warn only prints them",
      "strict",
    )
    .option("--strict", "refuse kinds that are not simulated, rather than pass them over")
    .addHelpText(
      "after",
      '\nExamples:\n  $ kubewright run cronjob.yaml --for 7d\n  $ helm template chart/ | kubewright run - --for 7d\n  $ kubewright run --from-cluster -A --for 7d\n  $ kubewright run manifests/ --start 2026-03-28T00:00:00Z --for 2d --seed 7\n  $ kubewright run --scenario examples/scenarios/weekend-outage.yaml\n  $ kubewright run cronjob.yaml --for 30d --html report.html\n  $ kubewright run manifests/ --for 365d --workers 8\n  $ kubewright run manifests/ --for 7d --seeds 1-200 --html futures.html\n  $ kubewright run cronjob.yaml --against changed.yaml --start 2026-03-28T00:00:00Z --for 3d\n  $ kubewright run --from-cluster -A --for 7d --against-kubernetes 1.36   # what changes with an upgrade\n  $ kubewright run manifests/ --seeds 1-100000 --fail-on missed --indexed-job ghcr.io/acme/kubewright:1 | kubectl apply -f -\n  $ kubewright run job.yaml --json - | grep \'"type":"decision"\'',
    )
    .action(async (files: string[], flags: RunFlags) =>
      withFailExit(flags.failExit, async () =>
        (await import("./commands/run-command.js")).runCommand(files, flags, io),
      ),
    );

  root
    .command("learn")
    .description("Learn how long Jobs take and how often they fail from what has run, as a file for run --workloads.")
    .argument(
      "[export...]",
      "files with finished Jobs and their pods, as kubectl get -o yaml prints; - for standard input",
    )
    .option("-o, --output <file>", "write the workloads file there (default: to standard output)")
    .option(
      "--prometheus <file>",
      "also learn from an answer of Prometheus to a range query of kube_job_status_start_time, kube_job_status_completion_time or kube_job_status_failed",
      collect,
    )
    .option("--from-cluster", "learn from what a live cluster still has; only GET and LIST requests")
    .option("--kubeconfig <file>", "how to reach that cluster (default: KUBECONFIG, or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .option("-n, --namespace <namespace>", "namespace of the cluster to read (default: the context's namespace)")
    .option("-A, --all-namespaces", "read all of the cluster")
    .option("-l, --selector <labels>", "only CronJobs and Jobs with these labels, as in kubectl")
    .addHelpText(
      "after",
      "\nExamples:\n  $ kubewright learn --from-cluster -A -o workloads.yaml\n  $ kubewright run --from-cluster -A --for 7d --workloads workloads.yaml\n  $ kubectl get jobs,pods -A -o yaml | kubewright learn -\n  $ kubewright learn --prometheus starts.json --prometheus completions.json --prometheus failed.json",
    )
    .action(async (paths: string[], flags: LearnFlags) =>
      (await import("./commands/learn-command.js")).learnCommand(paths, flags, io),
    );

  root
    .command("lint")
    .description("Find mistakes in CronJobs and Jobs without a simulation: each finding has its place and a proof.")
    .argument("[path...]", "manifest files, folders of them, kustomizations, or - for standard input")
    .option("--from <time>", "check schedules and clock changes from this time on (default: now)")
    .option("--workloads <file>", "how long containers run, as in a scenario's workloads")
    .option("--duration <selection=time>", "how long they run: 'report=5m', 'billing/*=5m..40m'", collect)
    .option("--json <file>", "also write what was found as one object; - writes only that, to standard output")
    .option("--sarif <file>", "also write what was found for code scanning, with its place in the manifests")
    .addHelpText(
      "after",
      "\nEnds with status 1 for errors and warnings. A comment on the line before, or at the top of the file, switches rules off:\n  # kubewright-lint-disable no-time-zone, rarely-fires\n\nExamples:\n  $ kubewright lint manifests/\n  $ helm template chart/ | kubewright lint -\n  $ kubewright lint cronjob.yaml --duration 'report=90m'\n  $ kubewright lint manifests/ --sarif lint.sarif",
    )
    .action(async (paths: string[], flags: LintFlags) =>
      (await import("./commands/lint-command.js")).lintCommand(paths, flags, io),
    );

  root
    .command("spread")
    .description("Show when CronJobs load the cluster, and propose minutes at which they would load it less.")
    .argument("[path...]", "manifest files, folders of them, kustomizations, or - for standard input")
    .option("--peak <number>", "move no more than it takes for so many pods at once (default: as few as are found)")
    .option("--keep <selection>", "which are not to be moved: report, 'billing/*'", collect)
    .option("--after <names>", "A,B: where both run in an hour, B begins when A has had its time", collect)
    .option("--show <measure>", "of what to draw the map: starts, pods, cpu or memory", "pods")
    .option("--patch <file>", "also write the new schedules, for kubectl apply --server-side; - writes only them")
    .option("--html <file>", "also write it as a page to open in a browser: one file that works offline")
    .option("--json <file>", "also write all of it as one object; - writes only that, to standard output")
    .option("--no-play", "do not simulate the present and the proposed schedules")
    .option("--start <time>", "where the time that counts starts (default: 2026-01-01T00:00:00Z)")
    .option("--for <duration>", "how much of it: 7d, 12h (default: 1d)")
    .option("--seed <number>", "seed of the simulation (default: 1)")
    .option("--kubernetes <version>", "release of Kubernetes to simulate: 1.31 to 1.36, or 1.36.2")
    .option("--from-cluster", "read what a live cluster holds; only GET and LIST requests")
    .option("--kubeconfig <file>", "how to reach that cluster (default: KUBECONFIG, or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .option("-n, --namespace <namespace>", "namespace of the cluster to read (default: the context's namespace)")
    .option("-A, --all-namespaces", "read all of the cluster")
    .option("-l, --selector <labels>", "only CronJobs and Jobs with these labels, as in kubectl")
    .option("--controller-time-zone <zone>", "time zone of CronJobs that name none (default: UTC)")
    .option("--workloads <file>", "how long containers run and how often they fail, as kubewright learn writes it")
    .option("--duration <selection=time>", "how long they run: 'report=5m', 'billing/*=5m..40m'", collect)
    .option("--fail <selection=share>", "how often they fail: 'report=2%'", collect)
    .option(
      "--validate <mode>",
      "unknown fields: strict refuses them as kubectl apply does, warn only prints them",
      "strict",
    )
    .option("--strict", "refuse kinds that are not simulated, rather than pass them over")
    .addHelpText(
      "after",
      "\nExamples:\n  $ kubewright spread manifests/ --for 7d\n  $ kubewright spread manifests/ --for 7d --html load.html\n  $ kubewright spread manifests/ --peak 20 --keep 'billing/*' --patch patch.yaml\n  $ kubectl apply --server-side --force-conflicts --field-manager kubewright-spread -f patch.yaml\n  $ kubewright spread --from-cluster -A --workloads workloads.yaml --after extract,load",
    )
    .action(async (paths: string[], flags: SpreadFlags) =>
      (await import("./commands/spread-command.js")).spreadCommand(paths, flags, io),
    );

  root
    .command("serve")
    .description("Serve an embedded cluster over HTTP, for kubectl and any other client, with a live page at /ui/.")
    .option("--port <number>", "port to listen on; 0 picks a free one", "8001")
    .option(
      "--host <address>",
      "address to listen on; one that other machines reach needs --token, --token-file, or --tls with --kubeconfig",
      "127.0.0.1",
    )
    .option(
      "--allowed-hosts <list>",
      "more names to be asked for by without credentials, besides localhost, 127.0.0.0/8, ::1 and --host",
    )
    .option(
      "--allow-anonymous",
      "accept requests without credentials from any client; requests with wrong credentials are refused",
    )
    .option(
      "--kubelet <mode>",
      "simulated: pods run as their annotations say; process: their commands run as processes of this machine, as you and not isolated, with --token on loopback only; none: neither kubelet nor scheduler",
      "simulated",
    )
    .option(
      "--controllers <list>",
      "controllers to run, in kube-controller-manager's list syntax; an empty list: only the API server",
      "*",
    )
    .option(
      "--terminated-pod-gc-threshold <number>",
      "number of ended pods in the cluster that PodGC keeps; 0: all of them",
      "12500",
    )
    .option(
      "--speed <factor>",
      "how fast time passes: 1, 60, or manual: paused until POST /_kubewright/clock/advance",
      "1",
    )
    .option(
      "--start <time>",
      "what time it is in the cluster when it begins, such as 2026-03-28T22:00:00Z; default: now",
    )
    .option("--kubernetes <version>", "release of Kubernetes to be like: 1.31 to 1.36, or 1.36.2", "1.36")
    .option("--snapshot <file>", "write everything stored to a file when the cluster is stopped")
    .option("--restore <file>", "begin with what such a file holds")
    .option("--seed <number>", "seed for names, UIDs and simulated workloads; default: a random one")
    .option(
      "--tls",
      "serve HTTPS with an authority and certificates made for this cluster; --kubeconfig has them, and lets you in",
    )
    .option("--token <token>", "ask every client for this bearer token, whose bearer may do everything")
    .option(
      "--token-file <file>",
      'ask every client for one of the tokens of a CSV file: token,user,uid,"group1,group2"',
    )
    .option("--authorization <mode>", "AlwaysAllow, or RBAC", "AlwaysAllow")
    .option("--allow-privileged", "let pods have privileged containers, as most clusters do")
    .option(
      "--feature-gates <list>",
      "features of kube-apiserver to switch on or off, Name=true|false,…: ShardedListAndWatch (ALPHA, off)",
      "",
    )
    .option("--kubeconfig <file>", "write a kubeconfig for this cluster to a file")
    .addHelpText(
      "after",
      "\nExamples:\n  $ kubewright serve --port 8001\n  $ kubectl --server http://127.0.0.1:8001 get jobs,cronjobs,pods\n  $ kubewright serve --controllers '' --kubelet none --kubeconfig kubewright.conf\n  $ kubewright serve --kubernetes 1.33\n  $ kubewright serve --speed manual                 # http://127.0.0.1:8001/ui/ plays it\n  $ curl -X POST http://127.0.0.1:8001/_kubewright/clock/advance -d '{\"seconds\": 3600}'\n  $ kubewright serve --host 0.0.0.0 --tls --kubeconfig kubewright.conf\n  $ kubewright serve --kubelet process --token s3cret --tls --kubeconfig kubewright.conf",
    )
    .action(async (flags: ServeFlags) => (await import("./commands/serve-command.js")).serveCommand(flags, io));

  root
    .command("fuzz")
    .description("Run generated workloads on all controllers while faults occur, and report every violated invariant.")
    .option("--seeds <range>", "run the plan of each seed of a range (default: 1-1000)")
    .option("--for-minutes <number>", "start no new plan after this time; without --seeds: as many seeds as fit")
    .option("--workers <number>", "number of threads (default: the machine's cores)")
    .option("--faults <list>", "faults to inject: requestFails,staleCache, or none (default: all)")
    .option(
      "--sharding <managers>",
      "number of controller managers that share the work, 1 to 5, with faults of their own",
    )
    .option(
      "--replay <file|seed>",
      "run one plan, from a file or from a seed such as 7 or 7+12, and print its violations",
    )
    .option("--minimize", "remove everything from a violating plan that the violation does not need")
    .option("--save <file>", "write the plan of the first violation, or the one that is replayed, as a scenario")
    .option("--resume <file>", "continue from a report that --json has written")
    .option("--mutant <name>", "put a known bug back in, to see whether it is found (in a checkout of the repository)")
    .option("--list-mutants", "print the known bugs")
    .option("--json <file>", "also write what was found as one object; - writes only that, to standard output")
    .option("--html <file>", "also write the first violation as a page that shows its run step by step, offline")
    .addHelpText(
      "after",
      `
Equal seeds play equal runs, on any number of threads. Ends with status 1 when an invariant did not hold.
${faults}

Examples:
  $ kubewright fuzz --seeds 1-1000
  $ kubewright fuzz --for-minutes 10 --json night.json
  $ kubewright fuzz --resume night.json --json night.json --seeds 1-5000
  $ kubewright fuzz --faults requestFails,controllerCrashes --minimize
  $ kubewright fuzz --sharding 3 --seeds 1-200
  $ kubewright fuzz --replay 7 --minimize --save plan.yaml
  $ kubewright fuzz --replay plan.yaml --html run.html
  $ kubewright fuzz --mutant job-finished-forgotten --minimize
  $ kubewright fuzz --seeds 1-100000 --indexed-job ghcr.io/acme/kubewright:1 | kubectl apply -f -`,
    )
    .action(async (flags: FuzzFlags) =>
      withFailExit(flags.failExit, async () => (await import("./commands/fuzz-command.js")).fuzzCommand(flags, io)),
    );
  for (const command of root.commands) if (["run", "fuzz"].includes(command.name())) addIndexedJobOptions(command);

  root
    .command("collect")
    .description("Print what the Jobs of --indexed-job have found so far, from what kubectl prints of them.")
    .argument(
      "[export...]",
      "files with those Jobs and their pods, as kubectl get -o json prints; - for standard input",
    )
    .option("--json", "as one object, for scripts")
    .addHelpText(
      "after",
      "\nEnds with status 1 when something was found.\n\nExamples:\n  $ kubectl get jobs,pods -l kubewright.dev/campaign -o json | kubewright collect -",
    )
    .action(async (paths: string[], flags: { readonly json?: boolean }) =>
      (await import("./commands/collect-command.js")).collectCommand(paths, flags, io),
    );

  root
    .command("schedule")
    .description("Print the next runs of a schedule, as the CronJob controller would compute them.")
    .argument("<expression...>", "five fields or a descriptor, e.g. '*/15 9-17 * * MON-FRI' or '@hourly'")
    .option("--time-zone <zone>", "IANA time zone", "UTC")
    .option("--from <time>", "runs strictly after this time (default: now; give one for the same answer every day)")
    .option("--count <number>", "how many runs, up to 10000", "10")
    .option("-o, --output <format>", "text, or json for scripts", "text")
    .addHelpText(
      "after",
      "\nExamples:\n  $ kubewright schedule '30 2 * * *' --time-zone America/New_York --from 2026-03-07T00:00:00Z --count 3\n  $ kubewright schedule '*/15 9-17 * * MON-FRI' --count 1 -o json",
    )
    .action(async (expression: string[], flags: ScheduleFlags) =>
      (await import("./commands/schedule-command.js")).scheduleCommand(expression, flags, io),
    );

  root
    .command("why")
    .description("Explain a CronJob or a Job of a live cluster: its last runs, what comes next, and why. Only reads.")
    .argument("<object>", "cronjob/NAME or job/NAME")
    .option("-n, --namespace <namespace>", "its namespace (default: that of the kubeconfig's context)")
    .option(
      "-f, --filename <file>",
      "also explain what this changed manifest of the CronJob would do if it were applied",
    )
    .option("--kubeconfig <file>", "how to reach the cluster (default: KUBECONFIG, or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .option("--kubernetes <version>", "release of Kubernetes whose Job controller to explain (default: the server's)")
    .option("--at <time>", "explain as of this time (default: now, by the server's clock)")
    .option("-o, --output <format>", "text, or json for scripts", "text")
    .addHelpText(
      "after",
      "\nGET and LIST requests only: the rights of the ClusterRole view are enough.\n\nExamples:\n  $ kubewright why cronjob/report -n billing\n  $ kubewright why job/report-29540760 -n billing -o json\n  $ kubewright why job/report-29540760 --kubernetes 1.36\n  $ kubewright why cronjob/report -f report-new-schedule.yaml",
    )
    .action(async (target: string, flags: WhyFlags) =>
      (await import("./commands/why-command.js")).whyCommand(target, flags, io),
    );

  return root;
}
