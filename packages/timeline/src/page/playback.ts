import { button, h, icon, addListener } from "./dom.js";
import { lowerBound } from "./lane.js";
import type { LiveRun } from "./live-run.js";
import type { PageContext } from "./page-context.js";

const PLAY = "M5 3l8 5-8 5z";
const PAUSE = "M5 3v10M11 3v10";
const BACK = "M11 3l-6 5 6 5M4 3v10";
const FORWARD = "M5 3l6 5-6 5M12 3v10";
const SPEEDS: readonly (readonly [number, string])[] = [
  [1, "1 s / s"],
  [60, "1 min / s"],
  [600, "10 min / s"],
  [3_600, "1 h / s"],
  [21_600, "6 h / s"],
  [86_400, "1 d / s"],
];
/** Approximate playback duration of a whole window. */
const PLAYBACK_SECONDS = 40;
/** Advances per second of a manual clock. */
const ADVANCES_PER_SECOND = 4;

/** Controls for play, pause, step and speed, of the time cursor or of a live cluster with a manual clock. */
export class Playback {
  readonly element: HTMLElement;
  readonly #context: PageContext;
  readonly #live: LiveRun | undefined;
  readonly #play: HTMLButtonElement;
  readonly #back: HTMLButtonElement;
  readonly #forth: HTMLButtonElement;
  readonly #speed: HTMLSelectElement;
  #isPlaying = false;
  #isAdvancing = false;

  constructor(context: PageContext, live: LiveRun | undefined) {
    this.#context = context;
    this.#live = live;
    this.#play = button("", "Play (P)", () => this.toggle(), "");
    this.#back = button("", "To the event before ([)", () => this.step(-1), "");
    this.#forth = button("", "", () => this.step(1), "");
    this.#back.append(icon(BACK));
    this.#forth.append(icon(FORWARD));
    this.#speed = h(
      "select",
      { "aria-label": "Speed" },
      ...SPEEDS.map(([value, label]) => h("option", { value }, label)),
    );
    this.#speed.value = String(this.#usualSpeed());
    this.element = h(
      "div",
      { class: "playback", role: "group", "aria-label": "Time" },
      h("div", { class: "segmented" }, this.#back, this.#play, this.#forth),
      this.#speed,
    );
    addListener(this.#speed, { onchange: () => this.render() });
    this.render();
  }

  /** The controls are hidden for a live clock that runs by itself. */
  render(): void {
    const isManual = this.#live?.status?.speed === "manual";
    this.element.hidden = this.#live !== undefined && !isManual;
    this.#back.hidden = isManual;
    const label = SPEEDS.find(([speed]) => String(speed) === this.#speed.value)?.[1].replace(" / s", "");
    this.#forth.title = isManual ? `Step: ${label} (])` : "To the event after (])";
    this.#forth.setAttribute("aria-label", this.#forth.title);
    this.#play.title = this.#isPlaying ? "Pause (P)" : "Play (P)";
    this.#play.setAttribute("aria-label", this.#play.title);
    this.#play.setAttribute("aria-pressed", String(this.#isPlaying));
    this.#play.replaceChildren(icon(this.#isPlaying ? PAUSE : PLAY));
  }

  toggle(): void {
    this.#isPlaying = !this.#isPlaying;
    this.render();
    if (!this.#isPlaying) return;
    if (this.#live === undefined) this.#playCursor();
    else void this.#playClock(this.#live);
  }

  step(by: 1 | -1): void {
    if (this.#live?.status?.speed === "manual") void this.#advance(this.#live, Number(this.#speed.value));
    else this.#stepCursor(by);
  }

  #stepCursor(by: 1 | -1): void {
    const { data, state, zone } = this.#context;
    const times = data.events.map(({ atMs }) => atMs);
    const atMs = state.cursorMs ?? state.fromMs;
    const next = by === 1 ? times[lowerBound(times, atMs + 1)] : times[lowerBound(times, atMs) - 1];
    if (next === undefined) return this.#context.announce(by === 1 ? "No later event" : "No earlier event");
    this.#moveTo(next);
    const at = data.events.filter((event) => event.atMs === next);
    const [first] = at;
    const more = at.length > 1 ? `, and ${at.length - 1} more` : "";
    this.#context.announce(`${zone.second(next)}: ${first!.involved.name} ${first!.reason}${more}`);
  }

  #playCursor(): void {
    const { state } = this.#context;
    let last = performance.now();
    let cursorMs = state.cursorMs ?? state.fromMs;
    if (cursorMs >= this.#context.data.endMs) cursorMs = state.fromMs;
    const frame = (now: number): void => {
      if (!this.#isPlaying) return;
      // The user may have moved the cursor.
      const shown = this.#context.state.cursorMs;
      if (shown !== undefined && Math.abs(shown - cursorMs) > 1) cursorMs = shown;
      cursorMs = Math.min(this.#context.data.endMs, cursorMs + (now - last) * Number(this.#speed.value));
      last = now;
      this.#moveTo(cursorMs);
      if (cursorMs < this.#context.data.endMs) requestAnimationFrame(frame);
      else this.toggle();
    };
    requestAnimationFrame(frame);
  }

  async #playClock(live: LiveRun): Promise<void> {
    while (this.#isPlaying) {
      const startedAt = performance.now();
      await this.#advance(live, Number(this.#speed.value) / ADVANCES_PER_SECOND);
      const restMs = 1_000 / ADVANCES_PER_SECOND - (performance.now() - startedAt);
      await new Promise((resolve) => void setTimeout(resolve, Math.max(0, restMs)));
    }
  }

  async #advance(live: LiveRun, seconds: number): Promise<void> {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    try {
      await live.advance(seconds);
    } catch (error) {
      this.#context.announce(`The clock was not moved: ${(error as Error).message}`);
      if (this.#isPlaying) this.toggle();
    } finally {
      this.#isAdvancing = false;
    }
  }

  /** Moves the cursor, and scrolls the window when the cursor leaves it. */
  #moveTo(cursorMs: number): void {
    const { fromMs, toMs } = this.#context.state;
    const span = toMs - fromMs;
    if (cursorMs >= fromMs && cursorMs <= toMs) this.#context.update({ cursorMs });
    else this.#context.update({ cursorMs, fromMs: cursorMs - span * 0.1, toMs: cursorMs + span * 0.9 });
  }

  #usualSpeed(): number {
    if (this.#live !== undefined) return 600;
    const { startMs, endMs } = this.#context.data;
    const wanted = (endMs - startMs) / 1_000 / PLAYBACK_SECONDS;
    return SPEEDS.find(([speed]) => speed >= wanted)?.[0] ?? SPEEDS.at(-1)![0];
  }
}
