import type { MetricFamilies } from "@kubewright/controller/metrics";

/** Statistics of this process from the operating system and Node. Unavailable ones are absent. */
export interface ProcessStats {
  readonly cpuSeconds: number;
  readonly openFileDescriptors?: number;
  readonly maxFileDescriptors?: number;
  readonly residentBytes: number;
  readonly virtualBytes?: number;
  readonly startTimeSeconds: number;
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  readonly externalBytes: number;
}

/**
 * Registers `process_*`, as every Prometheus client does, and metrics of Node's heap instead of Go's.
 *
 * @returns A function that updates the metrics: call it before they are read.
 */
export function processMetrics(families: MetricFamilies, read: () => ProcessStats): () => void {
  const gauge = (name: string, help: string) => families.gauge({ name, help });
  const cpu = families.counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
  });
  const openFds = gauge("process_open_fds", "Number of open file descriptors.");
  const maxFds = gauge("process_max_fds", "Maximum number of open file descriptors.");
  const resident = gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  const virtual = gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
  const start = gauge("process_start_time_seconds", START_TIME_HELP);
  const heapUsed = gauge("nodejs_heap_used_bytes", "Heap in use by JavaScript objects, garbage included.");
  const heapTotal = gauge("nodejs_heap_total_bytes", "Heap taken from the operating system.");
  const external = gauge("nodejs_external_memory_bytes", "Memory outside of the heap that JavaScript objects hold.");
  let countedCpu = 0;
  return () => {
    const stats = read();
    cpu.inc(Math.max(0, stats.cpuSeconds - countedCpu));
    countedCpu = Math.max(countedCpu, stats.cpuSeconds);
    if (stats.openFileDescriptors !== undefined) openFds.set(stats.openFileDescriptors);
    if (stats.maxFileDescriptors !== undefined) maxFds.set(stats.maxFileDescriptors);
    if (stats.virtualBytes !== undefined) virtual.set(stats.virtualBytes);
    resident.set(stats.residentBytes);
    start.set(stats.startTimeSeconds);
    heapUsed.set(stats.heapUsedBytes);
    heapTotal.set(stats.heapTotalBytes);
    external.set(stats.externalBytes);
  };
}

/** Registers `process_start_time_seconds` alone, which `/metrics/slis` has too. */
export function startTimeMetric(families: MetricFamilies, read: () => ProcessStats): () => void {
  const start = families.gauge({ name: "process_start_time_seconds", help: START_TIME_HELP });
  return () => start.set(read().startTimeSeconds);
}

const START_TIME_HELP = "Start time of the process since unix epoch in seconds.";
