import type { ControllerDeps } from "@kubewright/controller";
import { CronJobController, type CronJobControllerOptions } from "@kubewright/cronjob";
import { GarbageCollector, type GarbageCollectorOptions } from "@kubewright/garbage-collector";
import { JobController, type JobControllerOptions } from "@kubewright/job";
import { TTLAfterFinishedController, type TTLAfterFinishedControllerOptions } from "@kubewright/ttl-after-finished";

import { type ManagedContext, type ManagedController, chooseControllers } from "../managed-controller.js";
import { type ControllerDescription, type KubernetesDefinition, define } from "./define.js";
import { podGC } from "./pod-gc.js";

/**
 * The controllers of Kubernetes, by upstream's names, in the order in which they start. A line here registers one.
 *
 * Upstream: cmd/kube-controller-manager/app/controllermanager.go `NewControllerDescriptors`.
 */
const definitions = {
  "job-controller": define<JobControllerOptions>(
    { sharing: "objects" },
    (options, bucket) => new JobController({ ...options, handles: bucket?.work.part?.has }),
  ),
  "cronjob-controller": define<CronJobControllerOptions>(
    { sharing: "namespaces" },
    (options) => new CronJobController(options),
  ),
  "ttl-after-finished-controller": define<TTLAfterFinishedControllerOptions>(
    { sharing: "namespaces" },
    (options) => new TTLAfterFinishedController(options),
  ),
  "pod-garbage-collector-controller": podGC,
  // It reads an object from the API server before it deletes the object. With sharding it needs only metadata of pods.
  "garbage-collector-controller": define<GarbageCollectorOptions>(
    { sharing: "none", clientName: "generic-garbage-collector", requestsPerAction: 2 },
    (options, bucket) => new GarbageCollector(bucket === undefined ? options : { ...options, sharedResources: [] }),
  ),
} as const satisfies Readonly<Record<string, KubernetesDefinition<never>>>;

/** Name of a controller of Kubernetes. */
export type ControllerName = keyof typeof definitions;

type OptionsOf<Name extends ControllerName> =
  (typeof definitions)[Name] extends KubernetesDefinition<infer Options> ? Options : never;

/** A controller's options beside its dependencies. */
type OwnOptions<Name extends ControllerName> = Omit<OptionsOf<Name>, keyof ControllerDeps | "onDecision">;

type DecisionOf<Name extends ControllerName> =
  OptionsOf<Name> extends { readonly onDecision?: (decision: infer Of) => void } ? Of : never;

/** A decision of a controller, as plain data. The simulator explains runs with it. */
export type Decision = {
  readonly [Name in ControllerName]: { readonly controller: Name; readonly decision: DecisionOf<Name> };
}[ControllerName];

/** Options of controllers, by name. Default: upstream's values. */
export type KubernetesOptions = { readonly [Name in ControllerName]?: OwnOptions<Name> };

/** What a manager hands to a controller of Kubernetes for one run. */
export interface KubernetesContext extends ManagedContext {
  /** Called with each decision of the controller. Default: no call. */
  readonly onDecision?: ((decision: Decision) => void) | undefined;
}

/** A controller of Kubernetes, to be run by a manager. */
export interface KubernetesController extends ManagedController<KubernetesContext>, Required<ControllerDescription> {
  readonly name: ControllerName;
}

/** Names of all controllers, in the order in which they start. */
export const controllerNames = Object.keys(definitions) as readonly ControllerName[];

/**
 * Returns controllers of Kubernetes for one manager.
 *
 * @param names - Default: all.
 * @throws Error for a name that is unknown or given twice; it lists the known names.
 */
export function kubernetesControllers(
  options: KubernetesOptions = {},
  names: readonly string[] = controllerNames,
): readonly KubernetesController[] {
  return chooseControllers(
    controllerNames.map((name) => kubernetesController(name, options[name])),
    names,
  );
}

function kubernetesController<Name extends ControllerName>(
  name: Name,
  own: OwnOptions<Name> | undefined,
): KubernetesController {
  const {
    clientName = name,
    requestsPerAction = 1,
    sharing,
    start,
  } = definitions[name] as unknown as KubernetesDefinition<ControllerDeps>;
  const { build, buildClusterWide, annotations } = start();
  const optionsOf = ({ bucket: _bucket, onDecision, ...deps }: KubernetesContext) => ({
    ...deps,
    ...own,
    // Controllers compute decisions only for a receiver.
    ...(onDecision === undefined
      ? {}
      : { onDecision: (decision: DecisionOf<Name>) => onDecision({ controller: name, decision } as Decision) }),
  });
  return {
    name,
    clientName,
    requestsPerAction,
    sharing,
    build: (context) => build(optionsOf(context), context.bucket),
    ...(buildClusterWide === undefined
      ? {}
      : { buildClusterWide: (context) => buildClusterWide(optionsOf(context), context.bucket!) }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
