import { SimulatedClock } from "@kubewright/clock";
import { ItemExponentialFailureRateLimiter, PriorityQueue, lowPriority } from "@kubewright/workqueue";

const rateLimiter = new ItemExponentialFailureRateLimiter<string>({ baseDelayMs: 5, maxDelayMs: 1_000_000 });
const queue = new PriorityQueue<string>({ clock: new SimulatedClock(), rateLimiter });

// In an informer's onAdd(object, isInInitialList):
const enqueue = (key: string, isInInitialList: boolean): void =>
  queue.addWithOptions({ priority: isInInitialList ? lowPriority : 0 }, key);

enqueue("default/old", true);
enqueue("default/older", true);
enqueue("default/just-changed", false);
console.log(await queue.get(), await queue.get());
