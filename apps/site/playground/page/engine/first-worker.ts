/**
 * The worker of the engine, begun before anything else: it is the longest way to the first timeline. A script of its own, so that
 * it does not wait for the page's to be fetched and read.
 */
export const firstWorker = makeWorker();

export function makeWorker(): Worker {
  const { engine } = document.documentElement.dataset;
  return new Worker(engine!, { type: "module", name: "kubewright" });
}
