import { type ProcessHandle, ShardWorld, type WorldOptions } from "./shard-world.js";

const SECOND = 1000;
const MINUTE = 60_000;

/** Members that share all buckets, one minute after their start. */
export async function settled(count: number, options: WorldOptions = {}): Promise<ShardWorld> {
  const world = new ShardWorld(options);
  await world.start(count);
  await world.clock.advance(MINUTE);
  return world;
}

/** How often a bucket got an owner. */
export function takeovers({ history }: ShardWorld): number {
  return history.reduce((sum, owners) => sum + owners.length, 0);
}

/** Pauses one of three processes for `holdMs`, and runs for another minute. */
export async function pauseProcess(holdMs: number, isSuspended = false): Promise<ShardWorld> {
  const world = await settled(3);
  const resume = world.processes[0]!.clock.pause({ isSuspended });
  await world.clock.advance(holdMs);
  resume();
  await world.clock.advance(MINUTE);
  return world;
}

/**
 * No process reaches the API server for 20 s. The processes come back one after the other.
 *
 * @param atEnd - Called with each process before it comes back.
 */
export async function outage(atEnd: (process: ProcessHandle) => void = () => {}): Promise<ShardWorld> {
  const world = await settled(4);
  for (const { fault } of world.processes) fault.down = true;
  await world.clock.advance(20 * SECOND);
  for (const process of world.processes) {
    atEnd(process);
    process.fault.down = false;
    await world.clock.advance(2_500);
  }
  await world.clock.advance(MINUTE);
  return world;
}

/** The watches of one member hang: it receives no events of the others, which are live. */
export async function silenceWatches(): Promise<ShardWorld> {
  const world = await settled(3);
  world.processes[0]!.fault.areWatchesSilent = true;
  await world.clock.advance(MINUTE);
  world.processes[0]!.fault.areWatchesSilent = false;
  await world.clock.advance(MINUTE);
  return world;
}

/**
 * A member releases its buckets while writes are in transit for almost as long as allowed, and aborts them after
 * `drainMs`.
 */
export async function lateWrites(drainMs: number): Promise<ShardWorld> {
  const world = await settled(2, { timing: { drainMs } });
  const leaving = world.processes.at(-1)!;
  await world.clock.advance(9_900);
  leaving.fault.lateMs = 6_500;
  // Into the middle of the work for a slot.
  await world.clock.advance(1_300);
  const stopped = leaving.stop();
  await world.clock.advance(MINUTE);
  await stopped;
  return world;
}

/** Random faults by seed, then two minutes, of which the last one and a half are without faults. */
export async function chaos(seed: number): Promise<ShardWorld> {
  const world = await settled(3, { seed });
  const random = world.random.fork("chaos");
  const upTo = (limit: number): number => Math.floor(random.next() * limit);
  const pick = (): ProcessHandle | undefined => world.liveProcesses()[upTo(world.liveProcesses().length)];
  for (let step = 0; step < 12; step++) {
    const process = pick();
    const forMs = 500 + upTo(30_000);
    const later = (end: () => void): void => void world.clock.setTimer(forMs, end);
    switch (process === undefined || world.liveProcesses().length < 2 ? 0 : upTo(9)) {
      case 0:
      case 1:
        if (world.liveProcesses().length < 6) world.add(0.95 + random.next() / 10);
        break;
      case 2:
        world.kill(process!);
        break;
      case 3:
        void process!.stop();
        break;
      case 4:
        later(process!.clock.pause());
        break;
      case 5:
        later(process!.clock.pause({ isSuspended: true }));
        break;
      case 6:
        process!.fault.down = true;
        later(() => (process!.fault.down = false));
        break;
      case 7:
        process!.fault.lostAnswers = 0.3;
        later(() => (process!.fault.lostAnswers = 0));
        break;
      default:
        process!.fault.lateMs = upTo(4_000);
        later(() => (process!.fault.lateMs = 0));
    }
    await world.clock.advance(200 + upTo(20_000));
  }
  if (world.liveProcesses().length === 0) world.add();
  await world.clock.advance(2 * MINUTE);
  return world;
}
