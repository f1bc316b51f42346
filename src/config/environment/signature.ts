/** Who uses this process, for what Temporal records about a start or a decision. */
import { hostname, userInfo } from 'node:os';

export const signature = (): string => `${userName()}@${hostname()}`;

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
