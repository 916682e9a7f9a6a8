import type { Draw } from "../generate/draw.js";
import { durationText } from "../generate/duration-text.js";
import type { GenerateContext } from "./event-definition.js";

export function forDelay(draw: Draw): { readonly for: string } {
  return { for: durationText(Math.max(1, draw.fork("for").delayMs())) };
}

export function forSeconds(draw: Draw, from: number, to: number): { readonly for: string } {
  return { for: durationText(draw.fork("for").integer(from, to) * 1_000) };
}

/** Draws a short duration with that weight of a hundred, and a long one otherwise. */
export function shortOrLong(
  draw: Draw,
  name: string,
  weight: number,
  short: readonly [number, number],
  long: readonly [number, number],
): string {
  const lengthMs = draw.fork(name).weighted([
    [draw.fork("short").integer(...short), weight],
    [draw.fork("long").integer(...long), 100 - weight],
  ]);
  return durationText(lengthMs);
}

/** A kind of object in a controller's cache. */
export interface CacheSelection {
  readonly controller: string;
  readonly kinds: readonly string[];
}

export function drawCache(draw: Draw, { targets }: GenerateContext): CacheSelection {
  const { kind, controller } = draw.fork("cache").pick(targets.caches);
  return { controller, kinds: [kind] };
}

export function drawManager(draw: Draw, { replicas }: GenerateContext): string {
  return `controller-manager-${draw.fork("manager").integer(1, replicas)}`;
}

export function drawNode(draw: Draw, { nodes }: GenerateContext): string {
  return `node-${draw.fork("node").integer(1, nodes)}`;
}

/** Draws a controller, or the kubelet. */
export function drawComponents(draw: Draw, { targets }: GenerateContext): readonly string[] {
  return [draw.fork("who").pick([...targets.controllers, "kubelet"])];
}
