import { type Runnable, withStopDeadline } from "@kubewright/controller";

import type { ControllerContext } from "./controller-context.js";
import { OperatorClient } from "./operator-client.js";
import type { OperatorTask, TaskScope } from "./operator-task.js";
import { scopedLogger } from "./scoped-logger.js";

/** Creates a runnable from a task. It has the same stop timeout as reconciles. */
export function buildTask(
  { name, run, whileStandingBy = false }: OperatorTask<never>,
  context: ControllerContext,
): Runnable {
  const { operator, namespace, cache, caches, clock, random, stopTimeoutMs: limitMs } = context;
  const log = scopedLogger(context.logger, { task: name });
  return {
    name,
    run: (signal) => {
      const scope: TaskScope<unknown> = {
        client: new OperatorClient({
          client: whileStandingBy ? context.unfenced : context.client,
          cache,
          isCached: (definition) => caches.isComplete(definition),
          fieldManager: operator,
          listener: { wrote: () => undefined, deleted: () => undefined },
          signal,
        }),
        cache,
        log,
        metrics: context.metrics,
        clock,
        random: random.fork(`task ${name}`),
        namespace,
        signal,
      };
      return withStopDeadline(endsQuietly(run(scope as TaskScope<never>), signal), {
        clock,
        signal,
        limitMs,
        unfinished: () => `task ${name}`,
      });
    },
  };
}

/** An error after the abort counts as the end of the task. */
async function endsQuietly(work: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
