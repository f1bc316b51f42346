/** The belay.yaml of the stage. Its names are those that scenarios use. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempFolder } from '../support/temporal.ts';
import { TOKEN } from '../support/world.ts';
import { PAGE_PATH, PUT_OFF_PATH } from './chat.ts';

/** Sites with a check. */
export const CHECKED_SITES = [
  ...['checked', 'checked-down', 'checked-quick', 'checked-pooled', 'checked-failed', 'checked-cut-short'],
  ...['checked-other', 'checked-slow', 'checked-watched', 'checked-not', 'checked-late'],
];
/** No deployment of this site is triggered. */
export const FROZEN_SITE = 'frozen';
/** What becomes of this site is reported to GitHub. */
export const REPORTED_SITE = 'reported';
/** Anyone may give this approval, and only those who ask for it need it. */
export const APPROVAL = 'audit';
/** Both of these have to give it. */
export const [PAIR, PEOPLE] = ['pair', ['anne', 'bob']] as const;
/** People have a minute for it, and it is good for a minute. */
export const BRIEF = 'brief';
export const HEARTBEAT = 'night';
/** It gets the start, too. */
export const MEASURED_HEARTBEAT = 'measured';
/** It gets the start, too, but only at the second attempt. */
export const PUT_OFF_HEARTBEAT = 'put-off';
/** Its measurements are good, and those of the other one are bad. */
export const [GOOD_GATE, BAD_GATE] = ['errors', 'latency'] as const;
/** It measures a page, which is good. */
export const PAGE_GATE = 'smoke';
/** What it measures is set for each wave by name. One good measurement is enough. */
export const WAVE_GATE = 'health';
/** Its measurements are bad, and it decides nothing. */
export const DRY_GATE = 'rehearsal';

/** @returns where it is */
export async function configurationFile(sandboxUrl: string, chat: string): Promise<string> {
  const folder = await tempFolder();
  const secret = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return `file: ${join(folder, name)}`;
  };
  const address = await secret('address', `${chat}/hook`);
  const putOff = await secret('put-off', `${chat}${PUT_OFF_PATH}`);
  const token = await secret('token', TOKEN);
  const lines = [
    'notify:',
    '  on: failed',
    `  targets: { ops: { ${address} } }`,
    `  heartbeats: { ${HEARTBEAT}: { ${address} }, ${MEASURED_HEARTBEAT}: { kind: healthchecks, ${address} }, ${PUT_OFF_HEARTBEAT}: { kind: healthchecks, ${putOff} } }`,
    `  reports: { code: { kind: github, repository: acme/shop, token: { ${token} }, url: '${chat}/', for: { sites: [${REPORTED_SITE}] } } }`,
    'api: { app: { deploy: "/v1/apps/{id}/deploy", latest: "/v1/apps/{id}/deployments/latest" } }',
    `freezes: { stock: { from: 2020-01-01T00:00, to: 2120-01-01T00:00, for: { sites: [${FROZEN_SITE}] }, reason: inventory } }`,
    ...approvals(),
    ...gates(chat),
    'checks: { answers: { json: { status: ok }, commit: { json: commit }, interval: 1s, tries: 5 } }',
    'sites:',
    ...CHECKED_SITES.map((id) => `  ${id}: { url: '${sandboxUrl}/sites/${id}', check: answers, private: true }`),
  ];
  const file = join(folder, 'belay.yaml');
  await writeFile(file, lines.join('\n'));
  return file;
}

const approvals = () => [
  'approvals:',
  `  ${APPROVAL}: { proof: none, for: { sites: [no-site] } }`,
  `  ${PAIR}: { proof: none, need: 2, from: [${PEOPLE.join(', ')}], for: { sites: [no-site] } }`,
  `  ${BRIEF}: { proof: none, expiry: 1m, goodFor: 1m, for: { sites: [no-site] } }`,
];

const gates = (chat: string) => [
  'gates:',
  ...[GOOD_GATE, BAD_GATE].map((name) => query(chat, name, `${name}, tries: 3, inARow: 2`)),
  query(chat, DRY_GATE, `${BAD_GATE}, tries: 3, inARow: 2, dryRun: true`),
  query(chat, WAVE_GATE, `'${WAVE_GATE}{wave=~"$wave"}', tries: 2, inARow: 1`),
  `  ${PAGE_GATE}: { url: '${chat}${PAGE_PATH}', json: { ok: true }, value: rate, max: 1, interval: 1s, tries: 3, inARow: 2 }`,
];

const query = (chat: string, name: string, rest: string) =>
  `  ${name}: { prometheus: '${chat}', max: 1, interval: 1s, query: ${rest} }`;
