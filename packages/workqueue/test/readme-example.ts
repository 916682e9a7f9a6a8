import { SimulatedClock } from "@kubewright/clock";
import { RateLimitingQueue, defaultControllerRateLimiter } from "@kubewright/workqueue";

const clock = new SimulatedClock(); // in production: realClock
const queue = new RateLimitingQueue<string>({ clock, rateLimiter: defaultControllerRateLimiter({ clock }) });

async function worker(): Promise<void> {
  for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
    try {
      if (key === "default/flaky" && queue.numRequeues(key) < 2) throw new Error("not yet");
      console.log(`${key} is done`);
      queue.forget(key);
    } catch (error) {
      console.log(`${key}: ${String(error)}, again after a back-off`);
      queue.addRateLimited(key);
    } finally {
      queue.done(key);
    }
  }
}

queue.add("default/pi");
queue.add("default/pi"); // waits already: collapsed
queue.add("default/flaky");
const workers = [worker(), worker()];
await clock.advance(1000);
queue.shutDown();
await Promise.all(workers);
