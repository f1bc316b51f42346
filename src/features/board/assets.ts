/** The style and the script of the pages, as they are served. */

const css = String.raw;

export const STYLE = css`
  :root {
    color-scheme: light dark;
    --ink: #1c2024;
    --quiet: #5b6570;
    --ground: #ffffff;
    --raised: #f3f5f7;
    --line: #d5dae0;
    --link: #0b57a4;
    --good: #116329;
    --bad: #a40e26;
    --doubt: #7d4e00;
    font:
      15px/1.45 system-ui,
      sans-serif;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --ink: #e6e9ec;
      --quiet: #a3adb8;
      --ground: #14171a;
      --raised: #1f2429;
      --line: #3a424b;
      --link: #83bdff;
      --good: #6fd389;
      --bad: #ff9c9c;
      --doubt: #f0c060;
    }
  }
  body {
    margin: 0;
    padding: 1rem clamp(0.75rem, 2vw, 2rem);
    color: var(--ink);
    background: var(--ground);
  }
  h1 {
    font-size: 1.5rem;
    margin: 0;
  }
  h2 {
    font-size: 1.1rem;
    margin: 1.5rem 0 0.5rem;
  }
  header p {
    margin: 0.25rem 0;
  }
  a {
    color: var(--link);
  }
  .quiet {
    color: var(--quiet);
    font-size: 0.9em;
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  th,
  td {
    padding: 0.35rem 0.6rem 0.35rem 0;
    text-align: left;
    vertical-align: top;
    border-bottom: 1px solid var(--line);
    overflow-wrap: anywhere;
  }
  thead th {
    color: var(--quiet);
    font-weight: 600;
    font-size: 0.85em;
    white-space: nowrap;
  }
  tbody th {
    min-width: 12ch;
    font-weight: 600;
  }
  td[data-title='By'] {
    min-width: 8ch;
  }
  td[data-title='Took'],
  td[data-title='Commit'] {
    white-space: nowrap;
  }
  tbody th:first-child {
    padding-left: 0.5rem;
    border-left: 4px solid transparent;
  }
  tr.urgent > th:first-child {
    border-left: 4px double var(--bad);
  }
  tr.running > th:first-child {
    border-left: 4px solid var(--link);
  }
  time,
  .outcome {
    white-space: nowrap;
  }
  .outcome {
    font-weight: 600;
  }
  .completed {
    color: var(--good);
  }
  .failed {
    color: var(--bad);
  }
  .unknown,
  .timed_out {
    color: var(--doubt);
  }
  .attention,
  .problem,
  #lost {
    margin: 0.75rem 0;
    padding: 0.6rem 0.9rem;
    border: 2px solid var(--bad);
    border-radius: 4px;
    background: var(--raised);
    list-style: none;
  }
  .attention li + li {
    margin-top: 0.35rem;
  }
  .attention strong {
    color: var(--bad);
  }
  ul:not(.attention) {
    padding-left: 1.2rem;
  }
  dl {
    display: grid;
    grid-template-columns: max-content 1fr;
    gap: 0.3rem 1rem;
  }
  dt {
    color: var(--quiet);
  }
  dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
  .strip {
    display: flex;
    flex-wrap: wrap;
    gap: 3px;
    padding: 0;
    list-style: none;
  }
  .strip li {
    width: 1.5rem;
    text-align: center;
    font-weight: 700;
    border: 1px solid currentColor;
    border-radius: 3px;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (max-width: 760px) {
    thead {
      display: none;
    }
    table,
    tbody,
    tr,
    tbody th,
    td {
      display: block;
    }
    tr {
      padding: 0.5rem 0;
      border-bottom: 1px solid var(--line);
    }
    th,
    td {
      padding: 0.1rem 0 0.1rem 0.6rem;
      border-bottom: 0;
    }
    td.empty {
      display: none;
    }
    td::before {
      content: attr(data-title) ': ';
      color: var(--quiet);
    }
    dl {
      grid-template-columns: 1fr;
    }
  }
  @media print {
    :root {
      --ink: #000;
      --quiet: #000;
      --ground: #fff;
      --raised: #fff;
      --line: #000;
      --link: #000;
      --good: #000;
      --bad: #000;
      --doubt: #000;
      font-size: 10pt;
    }
    tr,
    li {
      break-inside: avoid;
    }
    tr.urgent > th:first-child::before {
      content: '! ';
    }
  }
`;

const javascript = String.raw;

/** Shows how long ago things happened, and reloads the content every five seconds while the page is visible. */
export const SCRIPT = javascript`'use strict';
const PERIOD_MS = 5000;
let lastText = null;
let failingSince = null;

function ago(at) {
  const ms = Date.now() - at;
  const seconds = Math.floor(Math.abs(ms) / 1000);
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  const size =
    minutes < 1 ? seconds + ' s' : hours < 1 ? minutes + ' min' : hours < 48 ? hours + ' h' : Math.floor(hours / 24) + ' d';
  return ms < 0 ? 'in ' + size : size + ' ago';
}

function showAges() {
  for (const time of document.querySelectorAll('time[datetime]')) {
    time.textContent = ago(Date.parse(time.dateTime));
    time.title = time.dateTime;
  }
}

function replaceMain(text) {
  const next = new DOMParser().parseFromString(text, 'text/html');
  const main = document.querySelector('main');
  const href = main.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  main.replaceChildren(...next.querySelector('main').childNodes);
  document.title = next.title;
  if (href !== null) main.querySelector('a[href="' + CSS.escape(href) + '"]')?.focus({ preventScroll: true });
}

function showLost(problem) {
  const lost = document.getElementById('lost');
  failingSince = problem === null ? null : (failingSince ?? new Date());
  lost.hidden = problem === null;
  const text = problem === null ? '' : 'The board has not answered since ' + failingSince.toLocaleTimeString() + ' (' + problem + '): this page is old.';
  if (lost.textContent !== text) lost.textContent = text;
}

async function look() {
  // What someone selects to copy stays.
  if (document.hidden || String(getSelection()) !== '') return;
  try {
    const answer = await fetch(location.href, { cache: 'no-cache', headers: { accept: 'text/html' } });
    if (!answer.ok) throw new Error('status ' + answer.status);
    const text = await answer.text();
    if (text !== lastText) replaceMain(text);
    lastText = text;
    const readAt = answer.headers.get('belay-read-at');
    for (const time of readAt === null ? [] : document.querySelectorAll('#read time')) time.dateTime = readAt;
    showLost(null);
  } catch (error) {
    showLost(error.message);
  }
}

showAges();
document.addEventListener('visibilitychange', () => void look().then(showAges));
setInterval(() => void look().then(showAges), PERIOD_MS);
`;

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M3 13V3h5.5a3 3 0 0 1 1.7 5.4A3 3 0 0 1 9 13z" fill="none" stroke="#3b82c4" stroke-width="2"/></svg>';
