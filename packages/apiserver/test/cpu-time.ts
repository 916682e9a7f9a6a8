/**
 * Returns the CPU time of this thread so far, in milliseconds. It excludes other threads, such as other tests', and
 * waiting for a processor. A limit on it therefore does not depend on the load of the machine.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
