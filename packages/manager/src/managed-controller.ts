import type { ControllerDeps, Runnable } from "@kubewright/controller";
import type { InformerFactory } from "@kubewright/informer";
import type { BucketWork } from "@kubewright/sharding";
import type { Transport } from "@kubewright/transport";

/** One bucket of a sharded manager, from acquire to release. */
export interface BucketRun {
  readonly work: BucketWork;
  /** Aborts when the bucket is being released. */
  readonly signal: AbortSignal;
  /** Transport of the work's writes. It rejects writes that this process may not send, and finishes those it has sent. */
  readonly transport: Transport;
  /** Annotations on the Leases of the other live members. */
  readonly annotationsOfOthers: () => readonly Readonly<Record<string, string>>[];
}

/** What a manager hands to a controller for one run. */
export interface ManagedContext extends ControllerDeps {
  /** Run by the manager, which stops them after the controllers. */
  readonly informers: InformerFactory;
  /** The bucket that the controller works for. Absent without sharding. */
  readonly bucket?: BucketRun | undefined;
}

/**
 * How the replicas of a sharded manager share the work of a controller.
 *
 * - `objects`: also the parts of a split namespace have different owners, by UID (`BucketWork.part`).
 * - `namespaces`: each namespace has one owner.
 * - `none`: the owner of the bucket `cluster` does all work.
 */
export type WorkSharing = "objects" | "namespaces" | "none";

/** A controller that a manager can run. */
export interface ManagedController<Context extends ManagedContext = ManagedContext> {
  /** Unique in its manager. */
  readonly name: string;
  readonly sharing: WorkSharing;
  /** Creates the controller for one run. It may add event handlers; nothing runs yet. */
  readonly build: (context: Context) => Runnable;
  /**
   * Creates the part of a shared controller that needs the whole cluster, for the owner of the bucket `cluster`.
   * Default: none.
   */
  readonly buildClusterWide?: (context: Context) => Runnable;
  /** Annotations of this member's Lease, for the same controller of other members. Default: none. */
  readonly annotations?: () => Readonly<Record<string, string>>;
}

/**
 * Returns the controllers with these names, in the order of the names.
 *
 * @throws Error when two controllers have one name, or a name is given twice or unknown; it lists the known names.
 */
export function chooseControllers<Controller extends { readonly name: string }>(
  controllers: readonly Controller[],
  names: readonly string[],
): readonly Controller[] {
  const known = new Map<string, Controller>();
  const quote = (name: string): string => JSON.stringify(name);
  const all = controllers.map(({ name }) => name).join(", ");
  for (const controller of controllers) {
    if (known.has(controller.name)) throw new Error(`there are two controllers ${quote(controller.name)}: ${all}`);
    known.set(controller.name, controller);
  }
  const chosen = new Set<Controller>();
  for (const name of names) {
    const controller = known.get(name);
    if (controller === undefined) throw new Error(`${quote(name)} is not a controller; there are ${all}`);
    if (chosen.has(controller)) throw new Error(`controller ${quote(name)} is given twice; there are ${all}`);
    chosen.add(controller);
  }
  return [...chosen];
}
