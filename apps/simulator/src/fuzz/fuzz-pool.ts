import type { FuzzWorkers } from "@kubewright/simulation";

/** Workers that are ended, also in the middle of their work. */
export interface FuzzPool extends FuzzWorkers {
  close(): Promise<void>;
}
