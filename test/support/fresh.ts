let names = 0;

/** A name that no other test in this process uses. */
export function fresh(prefix: string): string {
  names += 1;
  return `${prefix}${names}`;
}
