/**
 * Returns the spec of a Job whose pods all succeed soon. The shapes alternate: one pod, several concurrent pods, and
 * indexes.
 */
export function auditedJob(index: number) {
  const shape = SHAPES[index % SHAPES.length]!;
  const annotations = { "sim.kubewright.dev/duration": "100ms..500ms", "sim.kubewright.dev/startup-delay": "0s" };
  const container = { name: "main", image: "busybox", command: ["true"] };
  return {
    ...shape,
    template: { metadata: { annotations }, spec: { restartPolicy: "Never", containers: [container] } },
  };
}

const SHAPES = [
  { completions: 1, parallelism: 1 },
  { completions: 3, parallelism: 2 },
  { completions: 4, parallelism: 4, completionMode: "Indexed" },
] as const;
