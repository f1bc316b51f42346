/** What holds a deployment or backup back. Stored in histories: add, never rename or remove. */
import type { Target } from './target.ts';

export interface FrozenBy {
  kind: 'freeze' | 'window';
  /** Its name in belay.yaml. */
  name: string;
  reason: string;
  /** When it ends, ISO 8601; null if that is not known. */
  until: string | null;
  /** For people: until when, on the clocks of its time zone. */
  untilText: string;
}

/** What of a run is frozen when it begins. */
export interface FrozenParts {
  /** Empty if the backup may be made. */
  backup: FrozenBy[];
  /** Only the targets that may not be deployed. */
  deployments: { target: Target; by: FrozenBy[] }[];
}
