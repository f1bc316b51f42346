/** Mistakes in the fleets, rollouts and schedules of belay.yaml, with the place and remedy each one is reported with. */

type Row = [text: string, line: number, key: string, remedy: RegExp];

const under = (head: string, indent: number, text: string) =>
  `${head}\n${text.replace(/^(?=.)/gm, ' '.repeat(indent))}\n`;

const SHOP = `fleets:
  shop:
    servers:
      12: { sites: [34, 35], labels: { tier: canary } }
      13: { sites: [36] }
      14:`;
const OTHERS = `${SHOP}
  other: { servers: { 15: { sites: [44] } } }
rollouts:
  steady: { fleet: shop }
notify: { heartbeats: { daily: { env: DAILY } } }`;
export const ROLLOUT = 'start: { rollout: steady }';
export const CRON = 'cron: 30 2 * * *';

export const inFleet = (text: string) => under('fleets:\n  shop:\n    servers:', 6, text);
const inRollout = (text: string) => under(`${SHOP}\nrollouts:\n  steady:`, 4, `${text}\nfleet: shop`);
export const inSchedule = (text: string) => under(`${OTHERS}\nschedules:\n  nightly:`, 4, text);

const NO_KEY = /^there is no such key/;
const BAD_NAME = /^use a name of 1 to 50 characters of a-z, 0-9 and "-", /;

const EACH_OF_1001 = Array.from({ length: 1_001 }, (_, index) => `${index}:`).join('\n');

const FILES: Row[] = [
  ['- fleets', 1, 'the file', /^write /],
  ['fleet:\n  shop: {}', 1, 'fleet', NO_KEY],
  ['fleets:\n  My Shop: { servers: { 1: } }', 2, 'fleets.My Shop', BAD_NAME],
  ['fleets:\n  shop:', 2, 'fleets.shop', /(write|name) .*server/],
  ['fleets:\n  shop: {}', 2, 'fleets.shop.servers', /^it is missing[;:] .*server/],
  ['fleets:\n  shop:\n    servers: {}', 3, 'fleets.shop.servers', /^name at least one server$/],
  ['fleets:\n  shop: { servers: [1] }', 2, 'fleets.shop.servers', /^write /],
  ['fleets:\n  a: { servers: { 1: } }\n  a: {}', 3, 'fleets.a', /^duplicate key: remove one$/],
  [
    `${SHOP}\n  b: { servers: { 12: } }`,
    7,
    'fleets.b.servers.12',
    /^server 12 is already in .*: remove one; labels can group servers$/,
  ],
  [
    `${SHOP}\n  b: { servers: { 1: { sites: [2, 34] } } }`,
    7,
    'fleets.b.servers.1.sites.1',
    /^site 34 is already in .*: \w/,
  ],
  ['rollouts:\n  steady: {}', 2, 'rollouts.steady.fleet', /^it is missing[;:] .*fleet/],
  ['rollouts:\n  steady: shop', 2, 'rollouts.steady', /^write .*fleet/],
  ['rollouts:\n  a: { fleet: b }', 2, 'rollouts.a.fleet', /no fleet b: (?!.* of none)/],
  ['rollouts:\n  a: { fleet: constructor }', 2, 'rollouts.a.fleet', /^there is no fleet /],
  ['rollouts:\n  Steady: { fleet: shop }', 2, 'rollouts.Steady', BAD_NAME],
  ['rollouts: [steady]', 1, 'rollouts', /^write /],
  ['\nschedules:', 2, 'schedules', /empty|write|name/],
  ['schedules:\n  nightly:', 2, 'schedules.nightly', /empty|write/],
  [inFleet(EACH_OF_1001), 2, 'fleets.shop', /more than 1000 .*: split it into two fleets/],
];

const FLEETS: Row[] = [
  ['12:\n  sites:\n    - 34\n    - 34', 7, '12.sites.1', /^duplicate id 34: \w/],
  ['12: { sites: [34, "34"] }', 4, '12.sites.1', /^duplicate id 34/],
  ['12: { sites: [34] }\n13:\n  sites: [35, 34]', 6, '13.sites.1', /^site 34 is already in fleets\.shop\.servers\.12:/],
  ['12: { apps: 7 }', 4, '12.apps', /^write a list of ids/],
  ['12: { apps: [7] }\n13:\n  apps: [8, 7]', 6, '13.apps.1', /^app 7 is already in .*12: an app has only one server$/],
  ['12: {}\n12: {}', 5, '12', /^duplicate key: remove one$/],
  ['12: {}\n"12": {}', 5, '12', /duplicate|already/],
  ['12: {}\n__proto__: {}', 5, '__proto__', /^this name is not allowed/],
  ['"__proto__": { sites: [34] }', 4, '__proto__', /^this name is not allowed/],
  ['"..": {}', 4, '..', /^the id must not be "\.\.": write it/],
  ['12: { sites: [""] }', 4, '12.sites.0', /^the id is empty/],
  ['12: { sites: 34 }', 4, '12.sites', /^write a list of ids, like \[34, 35\]$/],
  ['12: { sites: [[34]] }', 4, '12.sites.0', /^write the id of a /],
  ['12: [34]', 4, '12', /^write .*sites/],
  ['12: { site: [34] }', 4, '12.site', NO_KEY],
  ['12: { labels: [canary] }', 4, '12.labels', /^write /],
  ['12: { labels: { tier: } }', 4, '12.labels.tier', /write /],
  ['12: *x', 4, '12', /quotes|anchor/],
  ['12: { sites: [1] }\n13:\n12: { sites: [2] }', 6, '12', /^duplicate key: remove one$/],
  ['12:\n\n# the third\n13:\n12:', 8, '12', /^duplicate key: remove one$/],
];

const ROLLOUTS: Row[] = [
  ['waves: []', 9, 'waves', /^name at least one wave, or leave waves out$/],
  ['waves: canary', 9, 'waves', /^write a list/],
  ['waves: [canary]', 9, 'waves.0', /^write labels: or servers:/],
  ['waves: [{ name: a }]', 9, 'waves.0', /^write labels: or servers: to say which/],
  ['waves:\n  - servers: 1\n  - labels: { tier: beta }', 11, 'waves.1', /^no server is left/],
  ['waves:\n  - servers: 100%\n  - servers: 1', 11, 'waves.1', /^no server is left .*: change/],
  [
    'waves: [{ name: a, servers: 1 }, { name: a, servers: 1 }]',
    9,
    'waves.1.name',
    /has the name a: use a different name$/,
  ],
  ['waves: [{ name: wave-2, servers: 1 }, { servers: 1 }]', 9, 'waves.1', /has the name wave-2/],
  ['waves: [{ name: remaining, servers: 1 }]', 9, 'waves.0.name', /name \w+ is reserved/],
  ['waves: [{ name: First Wave, servers: 1 }]', 9, 'waves.0.name', BAD_NAME],
  ['waves: [{ label: { tier: canary } }]', 9, 'waves.0.label', NO_KEY],
  ['waves: [{ servers: 101% }]', 9, 'waves.0.servers', /up to 100%/],
  ['waves: [{ servers: 0% }]', 9, 'waves.0.servers', /^write /],
  ['waves: [{ servers: 0 }]', 9, 'waves.0.servers', /^write /],
  ['waves: [{ servers: -1 }]', 9, 'waves.0.servers', /^write a number of servers, or a percentage up to 100%, like 3%/],
  ['waves: [{ servers: some }]', 9, 'waves.0.servers', /^write a number of servers, or a percentage/],
  ['maxAtOnce: 0', 9, 'maxAtOnce', /^write a whole number from 1 to 200$/],
  ['maxAtOnce: ten', 9, 'maxAtOnce', /^write a whole number from 1 to 200$/],
  ['maxFailures: 101%', 9, 'maxFailures', /up to 100%/],
  ['maxFailures: few', 9, 'maxFailures', /^write a number of servers, or a percentage up to 100%, like 3%$/],
  ['onFailures: abort', 9, 'onFailures', /^write one of stop, pause$/],
  ['maxFailure: 1', 9, 'maxFailure', NO_KEY],
  ['deploy:\n  tries: 3000', 10, 'deploy.tries', /^write a whole number from 1 to 2000$/],
  ['backup: { interval: soon }', 9, 'backup.interval', /^write a duration from 10ms to 24h, like 30s/],
  ['backup: 5', 9, 'backup', /^write /],
  ['keepGoing: 1', 9, 'keepGoing', /^write (one of )?true(,| or) false$/],
];

const TIMES: Row[] = [
  ['', 12, '', /^write cron: or calendar:, one of them$/],
  [`${CRON}\ncalendar: { hour: 2 }`, 12, '', /^write cron: or calendar:, one of them$/],
  ['cron: 30 2 * *', 13, 'cron', /has 4 fields, not 5: write minute, hour, day of month, month, /],
  ['cron: 0 30 2 * * *', 13, 'cron', /has 6 fields, not 5: write minute, hour, day of month, /],
  ['cron: "@daily"', 13, 'cron', /^"@daily" .*write minute, hour, day of month, month, day of week/],
  ['cron: 30', 13, 'cron', /^write minute, hour, day of month, month, day of week: 30 2/],
  ['cron: 61 2 * * *', 13, 'cron', /61 .*0.*59/],
  ['cron: 0 2 L * *', 13, 'cron', /^"L" is not valid in a cron expression: write something like 30 2 \* \* mon-fri$/],
  ['cron: 0 2 * * 1#2', 13, 'cron', /^"1#2" is not valid in a cron expression: write /],
  ['cron: 0 2 * * mun', 13, 'cron', /mun.*write /],
  ['cron: 0 2 * * 5-1', 13, 'cron', /5-1.*: \w/],
  ['cron: * * * * *', 13, 'cron', /quotes/],
  ['cron: */5 2 * * *', 13, 'cron', /quotes/],
  [
    'cron: "*/90 2 * * *"',
    13,
    'cron',
    /^the step in "\*\/90" is longer than the range, .* fires: write that one time, or a step of/,
  ],
  ['cron: 0 2 30 2 *', 13, 'cron', /^it never fires: no given month has that day$/],
  ['calendar: { hour: 2, dayOfMonth: 30, month: february }', 13, 'calendar', /^it never fires: no given month/],
  ['calendar: daily', 13, 'calendar', /^write .*hour/],
  ['calendar: { minute: 30 }', 13, 'calendar.hour', /write a whole number from 0 to 23/],
  ['calendar: { hour: [] }', 13, 'calendar.hour', /^write a whole number from 0 to 23, or a list of them$/],
  ['calendar: { hour: 24 }', 13, 'calendar.hour', /^write a whole number from 0 to 23/],
  ['calendar:\n  hour:\n    - 2\n    - 24', 16, 'calendar.hour.1', /from 0 to 23$/],
  ['calendar: { hour: 02:30 }', 13, 'calendar.hour', /^write a whole number from 0 to 23, or/],
  ['calendar: { hour: 2, dayOfWeek: mon }', 13, 'calendar.dayOfWeek', /^write one of sunday, monday, /],
  ['calendar: { hour: 2, month: 2 }', 13, 'calendar.month', /^write one of january, february, /],
  ['calendar: { hour: 2, second: 5 }', 13, 'calendar.second', NO_KEY],
];

const STARTS: Row[] = [
  ['', 12, 'start', /^it is missing[;:] .*rollout, run, backup/],
  ['start: {}', 13, 'start', /^write exactly one of rollout, run, backup and deploy$/],
  ['start: { run: 12, backup: 12 }', 13, 'start', /^write exactly one of rollout, run, backup and /],
  ['start: steady', 13, 'start', /^write .*rollout/],
  ['start: { rollout: fast }', 13, 'start.rollout', /^there is no rollout fast: write one of steady, or/],
  ['start: { rollout: constructor }', 13, 'start.rollout', /no rollout constructor: /],
  ['start: { run: 12, site: 34 }', 13, 'start.site', NO_KEY],
  ['start:\n  run: 99', 14, 'start.run', /^server 99 is in no fleet: add it under fleets$/],
  ['start: { backup: 99 }', 13, 'start.backup', /^server 99 is in no fleet: add it /],
  ['start: { run: [12] }', 13, 'start.run', /^write the id of a server/],
  ['start: { run: 14 }', 13, 'start.run', /^server 14 has no sites or apps in .*: write backup: instead$/],
  [
    'start: { deploy: [] }',
    13,
    'start.deploy',
    /^write the id of a site, \{ app: ID \} for an app, or a list of them$/,
  ],
  ['start: { deploy: [{ app: 34 }] }', 13, 'start.deploy.0', /^app 34 is in no fleet: add/],
  ['start: { deploy: [{ apps: 34 }] }', 13, 'start.deploy', /^write the id of a site, \{ app: ID \}/],
  ['start:\n  deploy:\n    - 34\n    - 99', 16, 'start.deploy.1', /^site 99 is in no fleet: add/],
  ['start:\n  deploy:\n    - 34\n    - 34', 16, 'start.deploy.1', /^duplicate id 34: \w/],
  ['start:\n  deploy:\n    - 34\n    - 44', 16, 'start.deploy.1', /^site 44 belongs to fleet other, not shop: \w.* /],
];

const OPTIONS: Row[] = [
  ['timeZone: Berlin', 13, 'timeZone', /^write a time zone like Europe\/Berlin or UTC$/],
  ['timeZone: "+01:00"', 13, 'timeZone', /^write a time zone like Europe\/Berlin or UTC$/],
  ['timezone: UTC', 13, 'timezone', NO_KEY],
  ['jitter: 25h', 13, 'jitter', /^write a duration from 0m?s to 24h, like 30s or 5m$/],
  ['catchUp: 9s', 13, 'catchUp', /^write a duration from 10s to 720h, like 30s, 5m, 7d or 2w$/],
  ['overlap: buffer', 13, 'overlap', /^write one of skip, queue$/],
  ['supersede: true\noverlap: queue', 13, 'supersede', /^only a run that deploys replaces others: /],
  ['pauseOnFailure: yes', 13, 'pauseOnFailure', /^write (one of )?true(,| or) false$/],
  ['backup: { tries: 5 }', 13, 'backup', /^a rollout has its own options: move it to rollouts\.steady$/],
  ['heartbeat: hourly', 13, 'heartbeat', /^there is no heartbeat hourly: write one of daily, or add it/],
];

/** A schedule that names a heartbeat in a file that has none at all. */
const WITHOUT_HEARTBEATS: Row[] = ['', 'notify: { targets: { ops: { env: OPS } } }\n'].map((notify) => [
  `${SHOP}\nrollouts:\n  steady: { fleet: shop }\nschedules:\n  nightly: { ${ROLLOUT}, ${CRON}, heartbeat: daily }\n${notify}`,
  10,
  'schedules.nightly.heartbeat',
  /^there is no heartbeat daily: add it under notify\.heartbeats$/,
]);

const RUNS: Row[] = [
  ['backup:\n  tries: 0', 14, 'backup.tries', /^write a whole number from 1 to 2000$/],
  ['deploy: { minEvidence: sure }', 13, 'deploy.minEvidence', /^write one of identity, tran/],
  ['busyTimeout: 13h', 13, 'busyTimeout', /^write a duration from 0m?s to 12h/],
  ['supersede: true\noverlap: skip', 13, 'supersede', /^a schedule that skips times has nothing to replace: write/],
  ['supersede: true', 13, 'supersede', /: write overlap: queue$/],
  ['supersede: true\noverlap: queue\nifBusy: fail', 13, 'supersede', /^it waits for the lock, and ifBusy is fail: /],
];

export const MISTAKES = [
  ...[...FILES, ...WITHOUT_HEARTBEATS].map((row) => mistake([], (text) => text, row)),
  ...FLEETS.map((row) => mistake(['fleets.shop.servers'], inFleet, row)),
  ...ROLLOUTS.map((row) => mistake(['rollouts.steady'], inRollout, row)),
  ...TIMES.map((row) => mistake(['schedules.nightly'], (text) => inSchedule(`${text}\n${ROLLOUT}`), row)),
  ...STARTS.map((row) => mistake(['schedules.nightly'], (text) => inSchedule(`${text}\n${CRON}`), row)),
  ...OPTIONS.map((row) => mistake(['schedules.nightly'], (text) => inSchedule(`${text}\n${ROLLOUT}\n${CRON}`), row)),
  ...RUNS.map((row) =>
    mistake(['schedules.nightly'], (text) => inSchedule(`${text}\nstart: { run: 12 }\n${CRON}`), row),
  ),
];

function mistake(prefix: string[], whole: (text: string) => string, [text, line, key, remedy]: Row) {
  const path = [...prefix, key].filter((part) => part !== '').join('.');
  return {
    what: `${path}: ${JSON.stringify(text.slice(-60))}`,
    text: whole(text),
    place: `FILE:${line}: ${path}: `,
    remedy,
  };
}
