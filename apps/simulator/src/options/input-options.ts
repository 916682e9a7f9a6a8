import { type Option, collect } from "../shell/command.js";

/** Options that read a live cluster, besides `--from-cluster`. */
export function clusterOptions(verb: string): readonly Option[] {
  return [
    ["--kubeconfig <file>", "kubeconfig of the cluster (default: KUBECONFIG, or ~/.kube/config)"],
    ["--context <name>", "context of the kubeconfig (default: the current one)"],
    ["-n, --namespace <namespace>", `namespace of the cluster to ${verb} (default: the context's namespace)`],
    ["-A, --all-namespaces", `${verb} all namespaces of the cluster`],
    ["-l, --selector <labels>", "only CronJobs and Jobs with these labels, as in kubectl"],
  ];
}

/** Manifests on the command line. */
export const MANIFESTS = [
  "[path...]",
  "manifest files, folders of them (with kustomizations and Helm charts), or - for standard input",
] as const;

/** Options that say how folders are rendered. */
export const RENDER_OPTIONS: readonly Option[] = [
  [
    "--kustomize <which>",
    "kustomizations to build with kubectl or kustomize: none, top (those that no other one includes) or all",
    "top",
  ],
  ["--allow-network", "let kustomize and Helm load what is not in a local file, and render charts in kustomizations"],
];

/** Options that complete the manifests. */
export const MANIFEST_OPTIONS: readonly Option[] = [
  ...RENDER_OPTIONS,
  ["--workloads <file>", "how long containers run and how often they fail: a file that kubewright learn wrote"],
  ["--fail <selection=share>", "how often containers fail: 'report=2%'", collect],
  ["--validate <mode>", "unknown fields: strict refuses them as kubectl apply does, warn only prints them", "strict"],
  [
    "--strict",
    "end with status 2 for CronJobs and Jobs that are left out, kinds that are not simulated, and every other mistake",
  ],
];

/** The option for durations, which `run` lists among the most used ones. */
export const DURATION_OPTION: Option = [
  "--duration <selection=time>",
  "how long containers run: 'report=5m', 'billing/*=5m..40m', '*=lognormal(10m, 0.5)'",
  collect,
];
