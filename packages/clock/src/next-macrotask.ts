import { Macrotasks } from "./macrotasks.js";

/** Resolves when everything ready has run, and the event loop has handled sockets, signals and the like. */
export function nextMacrotask(): Promise<void> {
  const macrotasks = new Macrotasks();
  const turn = macrotasks.next();
  macrotasks.close();
  return turn;
}
