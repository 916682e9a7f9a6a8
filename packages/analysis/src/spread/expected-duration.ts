import type { DeepReadonly, ObjectMeta, Pod } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import { type DurationRange, drawDuration, workloadOf } from "@kubewright/cluster/kubelet";

const SAMPLES = 64;

/**
 * Returns the mean duration of a pod of a template, according to its annotations: startup, and the container that runs
 * longest.
 */
export function expectedDurationMs(template: {
  readonly metadata?: DeepReadonly<Partial<ObjectMeta>>;
  readonly spec?: DeepReadonly<Pod["spec"]>;
}): number {
  const { annotations } = template.metadata ?? {};
  const { workload } = workloadOf({ metadata: { annotations } } as DeepReadonly<Pod>);
  const { rules = [] } = workload;
  // Rules for only some attempts or indexes do not count for the mean.
  const unconditional = rules.filter(({ indexes, attempts }) => indexes === undefined && attempts === undefined);
  const means = new Map<DurationRange, number>();
  const mean = (range: DurationRange): number => {
    const cached = means.get(range) ?? meanMs(range);
    means.set(range, cached);
    return cached;
  };
  const runs = (template.spec?.containers ?? []).map(({ name }) => {
    const matching = unconditional.filter(
      ({ container, duration }) => duration !== undefined && (container === undefined || container === name),
    );
    return mean(matching.at(-1)?.duration ?? workload.duration);
  });
  const startup = unconditional.filter(({ startupDelay }) => startupDelay !== undefined).at(-1)?.startupDelay;
  return mean(startup ?? workload.startupDelay) + Math.max(0, ...runs);
}

function meanMs(range: DurationRange): number {
  if (range.spread === undefined) return (range.fromMs + range.toMs) / 2;
  const random = seededRandom(1);
  let sum = 0;
  for (let sample = 0; sample < SAMPLES; sample++) sum += drawDuration(range, random.fork(String(sample)));
  return sum / SAMPLES;
}
