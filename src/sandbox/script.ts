/** How an operation at the sandbox proceeds: its duration, its status words and its end. Pure. */
import { z } from 'zod';

const script = z.strictObject({
  durationMs: z.number().int().min(0),
  /** Status words while the operation is in progress. Each is shown for an equal part of the time. */
  words: z.array(z.string().min(1)).min(1),
  /** The final status word. With `never`, the operation stays in progress. */
  ends: z.string().min(1),
  /** How long the latest-deployment endpoint does not show the deployment yet. */
  lagMs: z.number().int().min(0),
  /** The commit that the site shows once the deployment is completed. Default: a commit of its own. */
  commit: z.string().min(1).optional(),
  /** How long the site still shows the previous commit. */
  pageLagMs: z.number().int().min(0),
  /** How long before the end the site already shows the commit, even if the deployment then fails. */
  pageLeadMs: z.number().int().min(0),
});

export type Script = z.infer<typeof script>;

export const scriptSchema = script.partial();

export type ScriptPart = z.infer<typeof scriptSchema>;

export type Kind = 'deployment' | 'backup';

/** What an operation acts on. A site, an app and a server may have the same id. */
export interface Resource {
  type: 'site' | 'app' | 'server';
  id: string;
}

export const kindOn = ({ type }: Resource): Kind => (type === 'server' ? 'backup' : 'deployment');

const AT_ONCE = { lagMs: 0, pageLagMs: 0, pageLeadMs: 0 };

const DEFAULT_SCRIPTS: Record<Kind, Script> = {
  backup: { durationMs: 4_000, words: ['pending', 'running'], ends: 'completed', ...AT_ONCE },
  deployment: { durationMs: 3_000, words: ['queued', 'deploying'], ends: 'completed', ...AT_ONCE },
};

/** @param parts changes to the default; later ones win */
export const completeScript = (kind: Kind, ...parts: (ScriptPart | undefined)[]): Script =>
  Object.assign({}, DEFAULT_SCRIPTS[kind], ...parts) as Script;

export function statusAt(script: Script, elapsedMs: number): string {
  if (script.ends !== 'never' && elapsedMs >= script.durationMs) return script.ends;
  const part = script.durationMs === 0 ? 1 : elapsedMs / script.durationMs;
  const word = script.words[Math.min(Math.floor(part * script.words.length), script.words.length - 1)];
  return word ?? 'in progress';
}
