/** `Job` of `Job default/pi`. */
export function kindOfObject(subject: string): string {
  return subject.split(" ", 1)[0]!;
}
