/**
 * Milliseconds that this thread has computed so far. What others compute meanwhile, other tests' threads too, and waiting for a
 * processor are none of them: what is held to a limit of these does not depend on how busy the machine is.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
