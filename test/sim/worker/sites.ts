/** The sites that the service deploys, as a worker reads them: over a network of the simulator, with the real checks. */
import { hideAll, type ReadSite, type SiteRequest } from '../../../src/site-check/index.ts';
import { visit } from '../../../src/sandbox/routes.ts';
import type { SandboxAnswer } from '../../../src/sandbox/routes.ts';
import type { WorkerParts } from './parts.ts';

/** Where the sites are. */
export const SITES_URL = 'https://sites.example/sites';

const nothing = (why: string) => ({ kind: 'nothing', httpStatus: null, commit: null, why }) as const;

export const createSites =
  ({ tape, process, service, hazard }: WorkerParts): ReadSite =>
  async ({ url, check, headers, timeoutMs }: SiteRequest) => {
    const { pathname } = new URL(url);
    hazard('site to be read');
    await process.sleep(1 + tape.choose('site', 30));
    const { delayMs, answer } = visit(service.state, decodeURIComponent(pathname.split('/')[2] ?? ''), pathname);
    await process.sleep(Math.min(delayMs, timeoutMs) + tape.choose('page', 30));
    hazard('site read');
    if (answer === 'none' || delayMs > timeoutMs) return nothing(`no complete answer within ${timeoutMs} ms`);
    if (typeof answer === 'string') return nothing('no answer (ECONNRESET)');
    const { unmet, commit } = check(pageOf(answer), hideAll(Object.values(await headers())));
    const [first] = unmet;
    return { kind: first ? 'fails' : 'holds', httpStatus: answer.code, commit, why: first?.text ?? null };
  };

const pageOf = ({ code, headers, body }: SandboxAnswer) => ({
  status: code,
  headers,
  body: body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body),
});
