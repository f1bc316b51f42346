/** `belay advice` looks back at closed backups and deployments. */
import { type Target, targetLabel } from '../../contract/target.ts';
import { printAnswer } from '../../process/json-document.ts';
import type { AdviceSubject } from '../../starter.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { glanceText } from '../../contract/duration.ts';
import { codeSpan, plainText } from '../../contract/safe-text.ts';
import type { OperationAdvice } from './rules.ts';
import { operationIdOf } from '../../contract/ids.ts';
import { noteUnreadable, type PartlyRead } from '../../cli/run-text.ts';

export interface AdviceOptions {
  server?: string[];
  targets?: Target[];
  json?: boolean;
}

export async function advice({ server: servers = [], targets = [], json }: AdviceOptions): Promise<void> {
  const of: AdviceSubject[] = [...servers.map((serverId) => ({ serverId })), ...targets.map((target) => ({ target }))];
  const operations = await withBelay((belay) => belay.advise(of.length === 0 ? {} : { of }));
  noteUnreadable(unreadableIn(operations));
  const none = 'no backups or deployments in the last 30 days';
  printAnswer(json, { operations }, operations.length === 0 ? none : adviceLines(operations));
}

/** Names the locks whose operations could not all be read, in the form that notes on unreadable runs have. */
export const unreadableIn = (found: readonly OperationAdvice[]): PartlyRead[] =>
  found.flatMap(({ serverId, target, unreadable }) => {
    const workflowId = operationIdOf(target === null ? { serverId: serverId ?? '' } : { target });
    return unreadable === undefined ? [] : [{ workflowId, unreadable }];
  });

export interface Eta {
  usuallyMs: number;
  p95Ms: number | null;
  n: number;
  acceptedAt: string | null;
}

/**
 * `usually 2m10s, 1m20s so far`
 *
 * @param ticking whether to show what changes every second
 */
export function etaText({ usuallyMs, p95Ms, acceptedAt }: Eta, nowMs: number, ticking: boolean): string {
  const soFarMs = acceptedAt === null ? null : Math.max(0, nowMs - Date.parse(acceptedAt));
  if (soFarMs !== null && p95Ms !== null && soFarMs > p95Ms)
    return `longer than usual (95 % are done after ${glanceText(p95Ms)})`;
  return `usually ${glanceText(usuallyMs)}${soFarMs === null || !ticking ? '' : `, ${glanceText(soFarMs)} so far`}`;
}

/** `usually 2m10s, 95 % within 4m44s` */
export function usualText({ usuallyMs, p95Ms }: Pick<Eta, 'usuallyMs' | 'p95Ms'>): string {
  return `usually ${glanceText(usuallyMs)}${p95Ms === null ? '' : `, 95 % within ${glanceText(p95Ms)}`}`;
}

interface Named {
  target?: Target | null | undefined;
  serverId?: string | null | undefined;
}

/** `deployment of 34`, even for a deployment that names its server. */
export const nameOfAdvice = ({ target = null, serverId }: Named, shown: (id: string) => string = plainText): string =>
  target === null ? `backup of ${shown(serverId ?? '')}` : `deployment of ${targetLabel(target, shown)}`;

export function adviceLines(found: readonly OperationAdvice[]): string[] {
  return found.flatMap((one) => [`${nameOfAdvice(one)}: ${pastText(one)}`, ...one.advice.map((text) => `  ${text}`)]);
}

/** `usually 2m10s, 95 % within 4m44s, of 40, 2 timed out; 30 tries × 10s` */
function pastText({ n, timedOut, usuallyMs, p95Ms, budget }: OperationAdvice): string {
  const late = timedOut === 0 ? '' : `, ${timedOut} of them timed out`;
  if (usuallyMs === null) return n < 5 ? `too few to tell: ${n} in 30 days` : `most timed out: ${timedOut} of ${n}`;
  const waited = budget === null ? '' : `; waited for up to ${glanceText(budget.intervalMs * budget.tries)}`;
  return `${usualText({ usuallyMs, p95Ms })} (of ${n}${late})${waited}`;
}

export const adviceNotes = (found: readonly OperationAdvice[]): string[] =>
  found.flatMap((one) => one.advice.map((text) => `  advice on the ${nameOfAdvice(one)}: ${text}`));

export const etaDocument = (eta: Eta | null): object | null =>
  eta === null ? null : { usuallyMs: eta.usuallyMs, p95Ms: eta.p95Ms, n: eta.n };

export const adviceMarkdown = (found: readonly OperationAdvice[]): string[] =>
  found.flatMap((one) => one.advice.map((text) => `- advice on the ${nameOfAdvice(one, codeSpan)}: ${text}`));
