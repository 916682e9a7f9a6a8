/** Seconds in a day of 24 hours. */
export const DAY = 86_400;

/**
 * Returns the days since 1970-01-01 in the proleptic Gregorian calendar.
 *
 * Like Go's `time.Date`, accepts months and days outside their range and carries them over: month 13 is the next
 * January, day 32 of January is 1 February.
 */
export function daysFromCivil(year: number, month: number, day: number): number {
  // With March as the first month, the leap day is the last day of the year.
  const months = year * 12 + month - 3;
  const marchYear = Math.floor(months / 12);
  const marchMonth = months - marchYear * 12;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + (((153 * marchMonth + 2) / 5) | 0) + day - 719_469;
}

/**
 * Returns the date of a day since 1970-01-01, packed into one number so that stepping through days allocates nothing;
 * see {@link yearOf}, {@link monthOf} and {@link dayOf}. Supports every day that a JavaScript `Date` can hold.
 */
export function civilDate(days: number): number {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0));
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - (((153 * marchMonth + 2) / 5) | 0) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return year * 512 + month * 32 + day;
}

export const yearOf = (date: number): number => date >> 9;
/** 1 to 12. */
export const monthOf = (date: number): number => (date >> 5) & 15;
/** Day of the month, from 1. */
export const dayOf = (date: number): number => date & 31;

/** Returns the weekday of a day since 1970-01-01 (a Thursday): 0 (Sunday) to 6. */
export function weekdayOf(days: number): number {
  const weekday = (days + 4) % 7;
  return weekday < 0 ? weekday + 7 : weekday;
}
