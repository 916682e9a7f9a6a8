import { Macrotasks } from "./macrotasks.js";

/** Resolves when all that is ready has run, and sockets, signals and the like have had their turn. */
export function nextMacrotask(): Promise<void> {
  const macrotasks = new Macrotasks();
  const turn = macrotasks.next();
  macrotasks.close();
  return turn;
}
