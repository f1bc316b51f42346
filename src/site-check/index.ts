/** Reads whether a site does what is expected of it, as a package of its own: it imports nothing of Belay. */
import type { CompiledCheck } from './compile.ts';
import { NoAnswer, Oversized, systemResolve } from './resolve.ts';
import { getPage, type Network, type Page, type PageRequest } from './exchange.ts';

export { compileCheck, type CheckRules } from './compile.ts';
export { jsonOf, shownText, textAt } from './compile.ts';
export { judgedAddresses, systemResolve } from './resolve.ts';
export { NoAnswer, Oversized } from './resolve.ts';
export type { Network, Page, PageRequest } from './exchange.ts';

export interface SiteRequest {
  url: string;
  check: CompiledCheck;
  /** Read for every request, so that a secret can be rotated. */
  headers: () => Promise<Record<string, string>>;
  timeoutMs: number;
  follow: boolean;
  isPrivateSite: boolean;
}

interface SiteAnswer {
  /** `fails`: it answered, and not as expected. `nothing`: it gave no answer. */
  kind: 'holds' | 'fails' | 'nothing';
  httpStatus: number | null;
  commit: string | null;
  /** Why it does not hold; null if it does. */
  why: string | null;
}

export type ReadSite = (request: SiteRequest) => Promise<SiteAnswer>;

const SYSTEM: Network = { resolve: systemResolve };

/** One page, for other questions than that of a check. */
export const readPage = (request: PageRequest, network: Network = SYSTEM): Promise<Page> => getPage(request, network);

export const createSiteReader =
  (network: Network = SYSTEM): ReadSite =>
  async ({ url, check, headers, ...limits }) => {
    try {
      const page = await getPage({ ...limits, url: new URL(url), headers: await headers() }, network);
      const { unmet, commit } = check(page);
      const [first] = unmet;
      return { kind: first ? 'fails' : 'holds', httpStatus: page.status, commit, why: first?.text ?? null };
    } catch (error) {
      if (error instanceof Oversized) return { kind: 'fails', httpStatus: null, commit: null, why: error.message };
      if (error instanceof NoAnswer) return { kind: 'nothing', httpStatus: null, commit: null, why: error.message };
      throw error;
    }
  };
