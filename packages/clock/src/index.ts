export { realRandom, seededRandom, uuid } from "./random.js";
export { realClock } from "./real-clock.js";
export { ScaledClock } from "./scaled-clock.js";
export { SimulatedClock } from "./simulated-clock.js";
export { TokenBucket } from "./token-bucket.js";

export type { Clock, Timer, TimerOptions } from "./clock.js";
export type { Random } from "./random.js";
