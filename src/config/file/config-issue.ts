/** A contradiction between keys of belay.yaml. */
export interface ConfigIssue {
  path: Path;
  /** What is wrong, and how to fix it. */
  message: string;
}

export type Path = (string | number)[];
export type Report = (path: Path, message: string) => void;

/** The remedy for a name that does not exist below a key. */
export function oneOf(record: Record<string, unknown>, key: string): string {
  const known = Object.keys(record);
  return known.length === 0 ? `add it under ${key}` : `write one of ${known.join(', ')}, or add it under ${key}`;
}
