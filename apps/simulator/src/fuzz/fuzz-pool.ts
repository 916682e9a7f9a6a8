import type { FuzzWorkers } from "@kubewright/simulation";

/** Workers that can be stopped, even during their work. */
export interface FuzzPool extends FuzzWorkers {
  close(): Promise<void>;
}
