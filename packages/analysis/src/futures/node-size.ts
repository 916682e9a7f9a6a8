import { cpuMillisOf } from "../resources/requested-cpu.js";
import { memoryBytesOf } from "../resources/requested-memory.js";
import { UserError } from "../errors/user-error.js";

/** The resources of one node that pods may request. Plain data. */
export interface NodeSize {
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly pods: number;
}

/** The kubelet's default. */
const PODS = 110;

/** Reads `4,16Gi`, or `4,16Gi,58` with the number of pods. @throws UserError for anything else. */
export function parseNodeSize(text: string): NodeSize {
  const [cores = "", memory = "", pods = String(PODS), ...more] = text.split(",").map((part) => part.trim());
  const size = {
    cpuMillis: isQuantity(cores) ? cpuMillisOf(cores) : 0,
    memoryBytes: isQuantity(memory) ? memoryBytesOf(memory) : 0,
    pods: /^\d{1,5}$/.test(pods) ? Number(pods) : 0,
  };
  if (more.length > 0 || Object.values(size).some((each) => each <= 0))
    throw new UserError(
      `--node-size: ${JSON.stringify(text)} is no size; write its cores and memory, for example 4,16Gi, and if wanted how many pods it takes: 4,16Gi,58`,
    );
  return size;
}

function isQuantity(text: string): boolean {
  return /^\d+(?:\.\d+)?[a-zA-Z]{0,2}$/.test(text);
}
