/**
 * The engine's worker, started before anything else, because it is on the critical path to the first timeline. It is a
 * separate script, so that it does not wait for the page's script.
 */
export const firstWorker = makeWorker();

export function makeWorker(): Worker {
  const { engine } = document.documentElement.dataset;
  return new Worker(engine!, { type: "module", name: "kubewright" });
}
