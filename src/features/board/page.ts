/** Renders the pages of the board as HTML tables that need no script. Pure. */
import type { Outcome } from '../../contract/names.ts';
import { commitText } from '../../contract/commit.ts';
import { glanceText } from '../../contract/duration.ts';
import { plainText, replaceUnprintable } from '../../contract/safe-text.ts';
import { counted, countsText } from '../../contract/results.ts';
import { withOwnCommand } from '../../process/own-command.ts';
import { entryText } from '../freezes/actions.ts';
import { ended, LEAST_FOR_USUAL, quantile } from '../../rules/usual.ts';
import { MOST_SHOWN, type BoardSubject, type PastVerdict } from './past.ts';
import { subjectText, type Attention, type BoardStatus, type BoardTarget } from './status.ts';

/** Text that is already HTML, so it is not escaped again. */
class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | null | false | readonly (Html | string)[];

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function shown(value: Value): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === false) return '';
  if (typeof value === 'object') return value.map(shown).join('');
  return withOwnCommand(replaceUnprintable(String(value), ' ')).replace(/[&<>"']/g, (it) => ENTITIES[it] ?? '');
}

/** Escapes every value that is not already HTML. Attributes have to be quoted. */
const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(parts.map((part, index) => part + shown(values[index] ?? null)).join(''));

/** A sign and a word go together, because color alone must never tell outcomes apart. */
const SIGNS: Record<Outcome, string> = {
  completed: '✓',
  failed: '✗',
  unknown: '?',
  timed_out: '⧗',
  cancelled: '⊘',
  not_started: '–',
};

const word = (text: string): string => text.replaceAll('_', ' ');

function outcomeOf(outcome: Outcome | null): Html {
  if (outcome === null) return html`<span class="outcome">being read</span>`;
  return html`<span class="outcome ${outcome}"
    ><span aria-hidden="true">${SIGNS[outcome]}</span> ${word(outcome)}</span
  >`;
}

/** The script replaces the text with the time that has passed. */
const time = (at: string | null): Html =>
  at === null ? html`–` : html`<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>`;

const link = (href: string | null, text: Value): Html =>
  href === null || !/^https?:\/\//.test(href) ? html`${text}` : html`<a href="${href}" rel="noreferrer">${text}</a>`;

const pathOf = ({ kind, id }: BoardSubject): string => `/${kind}s/${encodeURIComponent(id)}`;

const took = (ms: number | null): string => (ms === null ? '–' : glanceText(ms));

function page(title: string, main: Html): string {
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="/board.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/board.css" />
        <script src="/board.js" defer></script>
      </head>
      <body>
        <p id="lost" role="alert" hidden></p>
        ${main}
      </body>
    </html> `;
  return text.replace(/\n\s+/g, '\n');
}

export function errorPage(code: number, message: string): string {
  return page(
    `${code} · Belay board`,
    html`<main>
      <h1>${code}</h1>
      <p>${message}</p>
    </main>`,
  );
}

export function boardPage(status: BoardStatus): string {
  const { targets, rollouts, attention, since } = status;
  const urgent = attention.length;
  const running = targets.filter(({ run }) => run !== null).length;
  const attentionText =
    urgent === 0 ? 'nothing needs attention' : `${urgent} ${urgent === 1 ? 'needs' : 'need'} attention`;
  const main = html`<main>
    <header>
      <h1>Belay board</h1>
      <p>
        ${urgent === 0 ? '✓' : '!'} ${attentionText} · ${counted(running, 'target')} in flight ·
        ${counted(targets.length, 'target')}${since === null ? '' : ' '}${since !== null && html`with a run since ${time(since)}`}
      </p>
      <p class="quiet">
        Read <span id="read">${time(status.readAt)}</span>. ${views(since)}
        <noscript>Reload the page to see what changed.</noscript>
      </p>
    </header>
    ${problemsOf(status)} ${attentionList(attention)} ${rolloutTable(rollouts)} ${targetTable(targets, since)}
    ${freezeList(status)} ${firings(status)} ${workerList(status)}
  </main>`;
  return page(`${urgent === 0 ? '' : `(${urgent}) `}Belay board`, main);
}

const views = (since: string | null): Html =>
  since === null
    ? html`<a href="/?since=12h">Only the last 12 hours</a>`
    : html`<a href="/">Everything</a> · <a href="/?since=12h">Only the last 12 hours</a>`;

/** If Temporal is down, all sources fail with the same message, so one paragraph names them together. */
function problemsOf({ problems, readAt }: Pick<BoardStatus, 'problems' | 'readAt'>): Html {
  const messages = [...new Set(problems.map(({ message }) => message))];
  return html`${messages.map((message) => {
    const those = problems.filter((it) => it.message === message);
    return html`<p class="problem" role="status">
      <strong>! What follows may be old:</strong> ${plainText(message, 400)}
      (${those.map(({ source }) => source).join(', ')}, since
      ${time(those.map(({ since }) => since).sort()[0] ?? null)}; last read ${time(readAt)})
    </p>`;
  })}`;
}

const MOST_ATTENTION = 20;

function attentionList(attention: readonly Attention[]): Html {
  if (attention.length === 0) return html``;
  const left = attention.length - MOST_ATTENTION;
  return html`<section aria-labelledby="attention">
    <h2 id="attention">Needs attention</h2>
    <ul class="attention">
      ${attention.slice(0, MOST_ATTENTION).map(
        ({ kind, what, why, since, ui }) =>
          html`<li>
            <strong><span aria-hidden="true">!</span> ${word(kind)}</strong> ${link(ui, what)}: ${why}
            ${since !== null && html`<span class="quiet">${time(since)}</span>`}
          </li>`,
      )}
      ${left > 0 && html`<li>and ${left} more: see the tables below</li>`}
    </ul>
  </section>`;
}

/** The title of each column, and its cell for an item. The first column heads the row. */
type Columns<T> = Record<string, (it: T) => Value>;

/** @param classOf the class of the row of an item */
function table<T>(
  caption: string,
  id: string,
  items: readonly T[],
  classOf: (it: T) => string,
  columns: Columns<T>,
): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${caption}</h2>
    <table role="table" aria-labelledby="${id}">
      <thead role="rowgroup">
        <tr role="row">
          ${Object.keys(columns).map((title) => html`<th role="columnheader" scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${items.map((it) => row(classOf(it), it, columns))}
      </tbody>
    </table>
  </section>`;
}

/** A phone leaves out empty cells. */
function row<T>(className: string, it: T, columns: Columns<T>): Html {
  const [head, ...cells] = Object.entries(columns);
  return html`<tr role="row" class="${className}">
    <th role="rowheader" scope="row">${head?.[1](it) ?? null}</th>
    ${cells.map(([title, cellOf]) => {
      const cell = cellOf(it);
      const text = cell === null || cell === '' ? '–' : cell;
      const isEmpty = shown(text) === '–';
      return html`<td role="cell" data-title="${title}" class="${isEmpty ? 'empty' : ''}">${text}</td>`;
    })}
  </tr>`;
}

function targetTable(targets: readonly BoardTarget[], since: string | null): Html {
  if (targets.length === 0) {
    const remedy = 'List your servers and sites under fleets: in belay.yaml, or start a run.';
    return html`<p>${since === null ? `There is nothing to show yet. ${remedy}` : 'Nothing ran in this time.'}</p>`;
  }
  const stateOf = ({ needsAttention, run }: BoardTarget) => (needsAttention ? 'urgent' : run === null ? '' : 'running');
  return table('Targets', 'targets', targets, stateOf, {
    Target: (it) => html`<a href="${pathOf(it)}">${subjectText(it)}</a>`,
    Server: ({ server, fleet }) =>
      server === null
        ? null
        : html`${plainText(server)}${fleet !== null && html` <span class="quiet">${fleet}</span>`}`,
    Now: ({ now }) => (now === null ? null : html`<span aria-hidden="true">▸</span> ${now}`),
    'Last verdict': ({ last }) => (last === null ? null : verdict(last)),
    Ended: ({ last }) => (last === null ? null : time(last.endedAt)),
    Took: ({ last }) => took(last?.durationMs ?? null),
    Commit: ({ last }) => (last?.commit == null ? null : commitText(plainText(last.commit))),
    By: ({ last }) => (last?.by == null ? null : plainText(last.by)),
    'At the service': serviceText,
    Temporal: ({ run, last }) => uiLink(run?.ui ?? last?.ui ?? null),
  });
}

const uiLink = (ui: string | null): Value => (ui === null ? null : link(ui, 'open'));

const verdict = ({ outcome, evidence }: PastVerdict): Html =>
  html`${outcomeOf(outcome)}${evidence !== null && html` <span class="quiet">${evidence}</span>`}`;

function serviceText({ service, serviceReadAt, serviceProblem, neverDeployed }: BoardTarget): Value {
  if (service === null && neverDeployed) return html`<span class="quiet">no deployment</span>`;
  const problem = serviceProblem === null ? null : html`<span class="quiet">! ${serviceProblem}</span>`;
  if (service === null) return problem;
  return problem === null ? service : html`${service} <span class="quiet">${time(serviceReadAt)}</span> ${problem}`;
}

function rolloutTable(rollouts: BoardStatus['rollouts']): Html {
  if (rollouts.length === 0) return html``;
  const stateOf = ({ needsAttention }: (typeof rollouts)[number]) => (needsAttention ? 'urgent' : 'running');
  return table('Rollouts in flight', 'rollouts', rollouts, stateOf, {
    Rollout: ({ name, workflowId }) => plainText(name ?? workflowId),
    Fleet: ({ fleet }) => (fleet === null ? null : plainText(fleet)),
    Now: ({ now }) => now,
    Servers: ({ servers, phase }) => countsText(servers, phase),
    Started: ({ startedAt }) => time(startedAt),
    Temporal: ({ ui }) => uiLink(ui),
  });
}

function freezeList({ freezes, readAt }: BoardStatus): Html {
  if (freezes.length === 0) return html``;
  const atMs = readAt === null ? Date.now() : Date.parse(readAt);
  return html`<section aria-labelledby="freezes">
    <h2 id="freezes">Freezes and windows</h2>
    <ul>
      ${freezes.map((it) => html`<li>${entryText(it, atMs)}</li>`)}
    </ul>
  </section>`;
}

function firings({ schedules, next }: BoardStatus): Html {
  if (schedules.length === 0) return html``;
  return table('Next firings', 'schedules', schedules, ({ paused }) => (paused ? 'urgent' : ''), {
    Schedule: ({ scheduleId }) => scheduleId,
    When: ({ when, timeZone }) => (when === null ? null : `${when} (${timeZone})`),
    Next: ({ scheduleId }) => time(next.find((it) => it.scheduleId === scheduleId)?.at ?? null),
    State: ({ paused, note, skipped, missed }) =>
      [
        paused ? `! paused${note === null ? '' : `: ${plainText(note)}`}` : 'active',
        ...(skipped === 0 ? [] : [`${counted(skipped, 'firing')} skipped`]),
        ...(missed === 0 ? [] : [`${counted(missed, 'firing')} missed`]),
      ].join(', '),
  });
}

function workerList({ workers }: BoardStatus): Html {
  if (workers === null || workers.length === 0) return html``;
  return table('Workers', 'workers', workers, () => '', {
    Worker: ({ where }) => plainText(where),
    Belay: ({ version }) => version,
    Build: ({ build }) => build,
    Since: ({ since }) => time(since),
    'New runs': ({ takesNewRuns }) => (takesNewRuns ? '✓ takes them' : '– takes none'),
  });
}

export function targetPage(
  { row: target, past }: { row: BoardTarget; past: PastVerdict[] },
  status: Pick<BoardStatus, 'problems' | 'readAt'>,
): string {
  const name = subjectText(target);
  const { server, fleet, now } = target;
  const place = [
    server === null ? [] : [`server ${plainText(server)}`],
    fleet === null ? [] : [`fleet ${fleet}`],
  ].flat();
  const main = html`<main>
    <header>
      <p><a href="/">Belay board</a></p>
      <h1>${name}</h1>
      <p class="quiet">
        ${place.length > 0 && `${place.join(', ')}. `}Read <span id="read">${time(status.readAt)}</span>.
      </p>
    </header>
    ${problemsOf(status)}
    <dl>
      <dt>Now</dt>
      <dd>${now === null ? 'nothing in flight' : html`<span aria-hidden="true">▸</span> ${now}`}</dd>
      <dt>At the service</dt>
      <dd>${serviceText(target) ?? 'not read'}</dd>
      <dt>Usual duration</dt>
      <dd>${usualText(past)}</dd>
      <dt>What changed</dt>
      <dd>${changeText(past)}</dd>
    </dl>
    ${past.length > 0 && strip(past)}
    ${past.length === 0 ? html`<p>Nothing ran in the last 30 days.</p>` : pastTable(past)}
  </main>`;
  return page(`${name} · Belay board`, main);
}

const pastTable = (past: readonly PastVerdict[]): Html =>
  table(`Last ${counted(past.length, 'run')}`, 'past', past, (it) => (it.outcome === 'completed' ? '' : 'other'), {
    Ended: ({ endedAt }) => time(endedAt),
    Verdict: verdict,
    Took: ({ durationMs }) => took(durationMs),
    Commit: ({ commit }) => (commit === null ? null : commitText(plainText(commit))),
    By: ({ by }) => (by === null ? null : plainText(by)),
    Why: ({ error }) => (error === null ? null : plainText(error, 400)),
    Temporal: ({ ui }) => uiLink(ui),
  });

/** The oldest first, as a row of signs. */
function strip(past: readonly PastVerdict[]): Html {
  return html`<ol class="strip" aria-label="The last runs, the oldest first">
    ${past
      .slice(0, MOST_SHOWN)
      .toReversed()
      .map(({ outcome, endedAt }) => {
        const name = outcome === null ? 'being read' : word(outcome);
        return html`<li class="${outcome ?? ''}" title="${name}, ${endedAt}">
          <span aria-hidden="true">${outcome === null ? '·' : SIGNS[outcome]}</span><span class="hidden">${name}</span>
        </li>`;
      })}
  </ol>`;
}

/** Counts only completed runs, because when another run ends says nothing about how long one usually takes. */
function usualText(past: readonly PastVerdict[]): string {
  const completed = past.flatMap(({ outcome, durationMs }) =>
    outcome === 'completed' && durationMs !== null ? [durationMs] : [],
  );
  if (completed.length < LEAST_FOR_USUAL)
    return `not known: ${counted(completed.length, 'completed run')} of at least ${LEAST_FOR_USUAL}`;
  const observed = completed.map(ended);
  const [half, most] = [quantile(observed, 0.5), quantile(observed, 0.9)];
  return `${took(half)}; nine of ten take at most ${took(most)} (${counted(completed.length, 'completed run')})`;
}

function changeText([last, before]: readonly PastVerdict[]): string {
  if (last === undefined || before === undefined) return 'not known: there are no two runs to compare';
  const areKnown = last.outcome !== null && before.outcome !== null;
  const changes = [
    ...(!areKnown || last.outcome === before.outcome ? [] : [`verdict ${was(before.outcome, last.outcome)}`]),
    ...(last.evidence === before.evidence ? [] : [`evidence ${was(before.evidence, last.evidence)}`]),
    ...(last.commit === before.commit ? [] : [`commit ${was(shortCommit(before), shortCommit(last))}`]),
    ...(last.by === before.by ? [] : [`by ${was(before.by, last.by)}`]),
    ...durationChange(last, before),
  ];
  return changes.length === 0 ? 'nothing since the run before' : `since the run before: ${changes.join('; ')}`;
}

const shortCommit = ({ commit }: PastVerdict): string | null => (commit === null ? null : commitText(commit));

const was = (before: string | null, now: string | null): string =>
  `${plainText(word(before ?? 'none'))} → ${plainText(word(now ?? 'none'))}`;

/** A tenth more or less is usual. */
function durationChange({ durationMs: now }: PastVerdict, { durationMs: before }: PastVerdict): string[] {
  if (now === null || before === null || Math.abs(now - before) < Math.max(before / 10, 5_000)) return [];
  return [`took ${took(before)} → ${took(now)}`];
}
