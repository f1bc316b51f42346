/** One GET for a measurement. */
import { NoAnswer, Oversized, type Page, type PageRequest } from '../../site-check/index.ts';

/** @throws NoAnswer, Oversized */
export type GetPage = (request: PageRequest) => Promise<Page>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** @returns the page, or why there is none */
export async function askPage(
  url: URL,
  headers: Record<string, string>,
  getPage: GetPage,
): Promise<Page | { error: string }> {
  try {
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, follow: false, isPrivateSite: true };
    return await getPage({ url, headers, ...limits });
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof Oversized) return { error: hideHost(error.message, url) };
    throw error;
  }
}

/** The address may be a secret. */
const hideHost = (message: string, { hostname }: URL): string =>
  message.replaceAll(hostname, 'the host').replaceAll(hostname.replace(/^\[(.*)\]$/, '$1'), 'the host');
