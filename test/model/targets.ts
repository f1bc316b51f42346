/** What a name of the model stands for. A play puts a prefix before it. */
import { appTarget, siteTarget, type Target } from '../../src/contract/target.ts';

export const targetNamed = (name: string): Target => (/b\d$/.test(name) ? appTarget(name) : siteTarget(name));

/** As the sandbox's controls name it. */
export function resourceNamed(name: string): { site: string } | { app: string } | { server: string } {
  if (/s\d$/.test(name)) return { server: name };
  return targetNamed(name).kind === 'app' ? { app: name } : { site: name };
}
