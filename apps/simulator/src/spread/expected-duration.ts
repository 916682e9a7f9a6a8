import type { DeepReadonly, ObjectMeta, Pod } from "@kubewright/api";
import { seededRandom } from "@kubewright/clock";
import { type DurationRange, drawDuration, workloadOf } from "@kubewright/fake-kubelet";

const DRAWS = 64;

/** How long a pod made from a template takes in the mean, as far as its annotations tell: start, and the container that runs longest. */
export function expectedDurationMs(template: {
  readonly metadata?: DeepReadonly<Partial<ObjectMeta>>;
  readonly spec?: DeepReadonly<Pod["spec"]>;
}): number {
  const { annotations } = template.metadata ?? {};
  const { workload } = workloadOf({ metadata: { annotations } } as DeepReadonly<Pod>);
  const { rules = [] } = workload;
  // What only some attempts or indexes do is no mean.
  const always = rules.filter(({ indexes, attempts }) => indexes === undefined && attempts === undefined);
  const means = new Map<DurationRange, number>();
  const mean = (range: DurationRange): number => {
    const known = means.get(range) ?? meanMs(range);
    means.set(range, known);
    return known;
  };
  const runs = (template.spec?.containers ?? []).map(({ name }) => {
    const applying = always.filter(
      ({ container, duration }) => duration !== undefined && (container === undefined || container === name),
    );
    return mean(applying.at(-1)?.duration ?? workload.duration);
  });
  const startup = always.filter(({ startupDelay }) => startupDelay !== undefined).at(-1)?.startupDelay;
  return mean(startup ?? workload.startupDelay) + Math.max(0, ...runs);
}

function meanMs(range: DurationRange): number {
  if (range.spread === undefined) return (range.fromMs + range.toMs) / 2;
  const random = seededRandom(1);
  let sum = 0;
  for (let draw = 0; draw < DRAWS; draw++) sum += drawDuration(range, random.fork(String(draw)));
  return sum / DRAWS;
}
