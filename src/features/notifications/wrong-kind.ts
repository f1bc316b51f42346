/** Recognizes tokens and addresses of another kind than belay.yaml names. No error contains one. Pure. */
import { ConfigError } from '../../config/environment/config-error.ts';
import type { ChannelKind } from './worker-channels.ts';

type RepositoryKind = 'github' | 'gitlab';

/** @throws ConfigError */
export function checkTokenKind(key: string, kind: RepositoryKind, token: string): string {
  const found = /^(gh._|github_pat_)/.test(token) ? 'github' : /^gl[a-z]{2,8}-/.test(token) ? 'gitlab' : kind;
  if (found !== kind) throw new ConfigError(`${key}: it is a token of ${found}, and the report is of kind: ${kind}`);
  return token;
}

const WRONG_API: Record<RepositoryKind, RegExp[]> = {
  github: [/^(www\.)?github\.com\//, /^gitlab\.com\//, /\/api\/v4$/],
  gitlab: [/^([\w.-]+\.)?(github|ghe)\.com\//, /\/api\/v3$/],
};
const APIS: Record<RepositoryKind, string> = {
  github: 'https://HOST/api/v3, and nothing for github.com',
  gitlab: 'https://HOST/api/v4',
};

/** @throws ConfigError */
export function checkApi(key: string, kind: RepositoryKind, address: string): string {
  const { hostname, pathname } = new URL(address);
  const isWrong = WRONG_API[kind].some((it) => it.test(hostname + pathname));
  if (isWrong) throw new ConfigError(`${key}: it is not the API of ${kind}: write ${APIS[kind]}`);
  return address;
}

/** @throws ConfigError */
export function checkChannelKind(key: string, kind: ChannelKind, address: string): void {
  const { hostname, pathname } = new URL(address);
  if (hostname.endsWith('.webhook.office.com'))
    throw new ConfigError(`${key}: the address is of a connector, which Teams has ended: make one of a workflow`);
  const found = kindAt(hostname, pathname) ?? kind;
  if (found !== kind) throw new ConfigError(`${key}: the address is one of ${found}: write kind: ${found}`);
}

/** Null: any kind may listen there. */
function kindAt(hostname: string, pathname: string): ChannelKind | null {
  if (hostname === 'hooks.slack.com') return 'slack';
  if (hostname.endsWith('.logic.azure.com') || hostname.endsWith('.powerplatform.com')) return 'teams';
  if (!/(^|\.)discord(app)?\.com$/.test(hostname)) return null;
  // Discord takes messages for Slack there.
  return pathname.endsWith('/slack') ? 'slack' : 'discord';
}
