const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How far ahead the search goes. */
const LONGEST_MS = 40 * DAY_MS;
/** The previous month counts too: upstream starts at the first of a month, and at midnight. */
const BEFORE_MS = 32 * DAY_MS;

/**
 * A cron schedule that searches minute by minute on the wall clock of its zone. The search is slow, and independent of
 * `@kubewright/cron`, which it checks.
 *
 * It returns no result where it cannot be sure. That applies to names, macros and zones in schedules. It also applies
 * to clock changes other than by one hour between 01:00 and 22:59, where upstream's steps lead elsewhere (robfig/cron
 * v3.0.1, spec.go Next).
 */
export class WallClockSchedule {
  readonly #zone: WallClock;
  readonly #minutes: ReadonlySet<number>;
  readonly #hours: ReadonlySet<number>;
  readonly #days: ReadonlySet<number>;
  readonly #months: ReadonlySet<number>;
  readonly #weekdays: ReadonlySet<number>;
  /** Whether a day has to match both day of month and day of week, and not just one of them. */
  readonly #both: boolean;

  private constructor(fields: readonly ReadonlySet<number>[], both: boolean, zone: WallClock) {
    [this.#minutes, this.#hours, this.#days, this.#months, this.#weekdays] = fields as [
      ReadonlySet<number>,
      ReadonlySet<number>,
      ReadonlySet<number>,
      ReadonlySet<number>,
      ReadonlySet<number>,
    ];
    this.#both = both;
    this.#zone = zone;
  }

  /** Returns `undefined` for a schedule with anything but numbers, lists, ranges and steps. */
  static of(text: string, zone: WallClock): WallClockSchedule | undefined {
    const texts = text.split(" ");
    const fields = texts.map((field, index) => valuesOf(field, RANGES[index]));
    if (texts.length !== RANGES.length || !fields.every((field) => field !== undefined)) return undefined;
    return new WallClockSchedule(fields, [texts[2], texts[4]].some(isAny), zone);
  }

  /** Returns the first slot after a time; `undefined` when it is uncertain or too far away. */
  next(afterMs: number): number | undefined {
    let atMs = (Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS;
    const lastMs = atMs + LONGEST_MS;
    while (atMs <= lastMs) {
      const offsetMs = this.#zone.offsetAt(atMs);
      if (offsetMs === undefined) return undefined;
      const wall = new Date(atMs + offsetMs);
      if (!this.#isDayOf(wall) || !this.#hours.has(wall.getUTCHours()))
        atMs = (Math.floor(atMs / QUARTER_MS) + 1) * QUARTER_MS;
      else if (this.#minutes.has(wall.getUTCMinutes()))
        return this.#zone.isPlain(afterMs - BEFORE_MS, atMs + DAY_MS) ? atMs : undefined;
      else atMs += MINUTE_MS;
    }
    return undefined;
  }

  #isDayOf(wall: Date): boolean {
    if (!this.#months.has(wall.getUTCMonth() + 1)) return false;
    const isOfMonth = this.#days.has(wall.getUTCDate());
    const isOfWeek = this.#weekdays.has(wall.getUTCDay());
    return this.#both ? isOfMonth && isOfWeek : isOfMonth || isOfWeek;
  }
}

const RANGES: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];

function valuesOf(text: string, [min, max]: readonly [number, number] = [0, -1]): Set<number> | undefined {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(item);
    if (match === null) return undefined;
    const [, from, to, step] = match;
    const first = from === undefined ? min : Number(from);
    const last = to !== undefined ? Number(to) : from === undefined || step !== undefined ? max : first;
    if (first < min || last > max || first > last || step === "0") return undefined;
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

/** Reports whether a field is a star with step 1 or none. A list of every value is no star. */
function isAny(text = ""): boolean {
  return text.split(",").some((item) => item === "*" || item === "*/1");
}

/** The wall clock of a time zone. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #offsets = new Map<number, number>();
  readonly #plainDays = new Map<number, boolean>();

  /** @param timeZone - A zone that `Intl` knows. */
  constructor(timeZone: string) {
    if (timeZone === "UTC") return;
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  /** Returns the offset from UTC, a multiple of a quarter of an hour; `undefined` when it is not one. */
  offsetAt(atMs: number): number | undefined {
    if (this.#format === undefined) return 0;
    const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS;
    const atFirst = this.#read(dayMs);
    // Clocks change at a full quarter of an hour, and at most once a day.
    const offsetMs =
      atFirst === this.#read(dayMs + DAY_MS) ? atFirst : this.#read(Math.floor(atMs / QUARTER_MS) * QUARTER_MS);
    return offsetMs % QUARTER_MS === 0 ? offsetMs : undefined;
  }

  /** Reports whether every clock change in that time is by one hour and far from midnight. */
  isPlain(fromMs: number, toMs: number): boolean {
    if (this.#format === undefined) return true;
    for (let day = Math.floor(fromMs / DAY_MS); day * DAY_MS <= toMs; day++) {
      const isPlain = this.#plainDays.get(day) ?? this.#isPlainDay(day * DAY_MS);
      this.#plainDays.set(day, isPlain);
      if (!isPlain) return false;
    }
    return true;
  }

  #isPlainDay(dayMs: number): boolean {
    let before = this.#read(dayMs);
    if (before === this.#read(dayMs + DAY_MS)) return true;
    for (let atMs = dayMs + HOUR_MS; atMs <= dayMs + DAY_MS; atMs += HOUR_MS) {
      const after = this.#read(atMs);
      if (after === before) continue;
      // The offset is constant up to the last second of the hour, and both sides of the change are on the same day.
      if (this.#read(atMs - 1000) !== before || Math.abs(after - before) !== HOUR_MS) return false;
      const hours = [before, after].map((offsetMs) => new Date(atMs + offsetMs).getUTCHours());
      if (new Date(atMs + before).getUTCMinutes() !== 0 || hours.some((hour) => hour < 1 || hour > 22)) return false;
      before = after;
    }
    return true;
  }

  #read(atMs: number): number {
    let offsetMs = this.#offsets.get(atMs);
    if (offsetMs === undefined) {
      const parts = new Map(this.#format?.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
      const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
      const wallMs = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
      offsetMs = wallMs - atMs;
      this.#offsets.set(atMs, offsetMs);
    }
    return offsetMs;
  }
}
