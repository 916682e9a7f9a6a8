import type { Clock } from "@kubewright/clock";

/**
 * Returns a function that adds a name. Calls back for all added names, each once, when what happens at this instant is
 * done.
 */
export function pendingNames(clock: Clock, sync: (name: string) => void): (name: string) => void {
  const pending = new Set<string>();
  const syncAll = (): void => {
    const names = [...pending];
    pending.clear();
    for (const name of names) sync(name);
  };
  return (name) => {
    if (pending.size === 0) clock.setTimer(0, syncAll);
    pending.add(name);
  };
}
