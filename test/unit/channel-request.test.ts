/** What each kind of channel gets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { channelRequest, type ChannelKind } from '../../src/features/notifications/worker-channels.ts';
import { emptyResult } from '../../src/contract/results.ts';
import type { Notification } from '../../src/features/notifications/shapes.ts';
import type { DeploymentResult } from '../../src/contract/run.ts';

const UI = 'https://ui.example/run';
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

function runNotice(message: string, siteIds: string[] = []): Notification {
  const deployments = siteIds.map((id) => ({ target: { kind: 'site', id }, outcome: null }) as DeploymentResult);
  const told = { workflowId: 'deploy:1:k', error: { type: 'DeploymentFailed' as const, message } };
  const result = { ...emptyResult(), ...told, outcome: 'failed' as const, deployments, links: { ui: UI } };
  return { kind: 'run', id: 'run-end:deploy%3A1:r', leftOut: 0, result };
}

const request = (kind: ChannelKind, notification: Notification, address = 'https://chat.example/a?thread_id=7') =>
  channelRequest(notification, { kind, address, secret: kind === 'webhook' ? SECRET : null, nowMs: 1_700_000_000_000 });

interface Discord {
  content: string;
  allowed_mentions: unknown;
}
interface Card {
  attachments: {
    content: { body: { type: string; inlines: { type: string; text: string }[] }[]; actions?: unknown };
  }[];
}
const discord = (it: Notification) => JSON.parse(request('discord', it).body) as Discord;
const card = (it: Notification) => (JSON.parse(request('teams', it).body) as Card).attachments[0]!.content;

/** What Discord and cards would show as mentions, links, times and other markup. */
const MARKUP = [
  '@everyone',
  '<@1>',
  '[x](http://y)',
  '**b**',
  '<t:1>',
  '{{DATE(2026-01-01T00:00:00Z)}}',
  '${x}',
  '\\*',
];
const outside = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...MARKUP)), { minLength: 1 });

describe('the request to a channel', () => {
  test('asks for an approval with the command, every fact and the link, and mentions no user', () => {
    const sentence = 'deploy:1:k waits for 1 approval (production): `belay approve deploy:1:k --plan 9f2c1ab4d0e1`';
    const about = { id: 'approval:1', about: 'asked' as const, workflowId: 'deploy:1:k', runId: 'r' };
    const notice: Notification = {
      kind: 'approval',
      ...about,
      sentence,
      text: 'run: deploy:1:k\ncommit: <!channel>',
      links: { ui: UI },
    };
    const shown = sentence.replace('belay', 'npx belay-deploy');
    const lines = [shown, 'run: deploy:1:k', 'commit: &lt;!channel&gt;', UI];
    for (const kind of ['slack', 'webhook'] as const) {
      const { text } = JSON.parse(request(kind, notice).body) as { text: string };
      assert.deepEqual(text.split('\n'), lines, kind);
    }
  });

  test('of Discord asks for an answer beside the query that its address has', () => {
    const { searchParams } = new URL(request('discord', runNotice('it failed')).address);
    assert.deepEqual(
      [...searchParams],
      [
        ['thread_id', '7'],
        ['wait', 'true'],
      ],
    );
    assert.equal(request('slack', runNotice('')).address, 'https://chat.example/a?thread_id=7');
  });

  test('of Discord mentions nobody, whatever a text from outside says', () => {
    const property = fc.property(outside, (texts) => {
      const { content, allowed_mentions } = discord(runNotice(texts.join(' '), texts));
      assert.deepEqual(allowed_mentions, { parse: [] });
      const bare = content.replace(UI, '').replaceAll(/\\[\\*_~`|>#[\]()<:-]/g, '');
      assert.doesNotMatch(bare, /[*~`|>#[\]<\\]|@(?!\u200b)/);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('of Discord has at most 2,000 characters, and keeps the link', () => {
    const { content } = discord(
      runNotice(
        '*'.repeat(300),
        Array.from({ length: 40 }, (_, at) => '_'.repeat(150) + at),
      ),
    );
    assert.ok(content.length <= 2_000 && content.length > 1_000, String(content.length));
    assert.ok(content.endsWith(`\n…\n${UI}`), content);
    assert.ok(discord(runNotice('short')).content.endsWith(UI));
  });

  test('of Teams is a card whose text is in runs without markup, with the link as its action', () => {
    const { body, actions } = card(runNotice('it failed'));
    assert.deepEqual(
      body.map(({ type, inlines }) => [type, inlines[0]?.type, inlines[0]?.text]),
      ['failed: deploy:1:k', 'it failed'].map((text) => ['RichTextBlock', 'TextRun', text]),
    );
    assert.deepEqual(actions, [{ type: 'Action.OpenUrl', title: 'Open in Temporal', url: UI }]);
  });

  test('of Teams calls no function of a card and mentions nobody, whatever a text from outside says', () => {
    const property = fc.property(outside, (texts) => {
      for (const { type, inlines } of card(runNotice(texts.join(' '), texts)).body) {
        assert.equal(type, 'RichTextBlock');
        for (const { text } of inlines) assert.doesNotMatch(text, /\{\{|\$\{|\$\(|@(?!\u200b)/);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('of a webhook is signed as Standard Webhooks and holds the result', () => {
    const { headers, body } = request('webhook', runNotice('it failed'));
    const [at, verifier] = [Date.now, new Webhook(SECRET)];
    Date.now = () => 1_700_000_000_000;
    try {
      const { kind, id } = verifier.verify(body, headers) as Notification;
      assert.deepEqual([kind, id, headers['webhook-id']], ['run', 'run-end:deploy%3A1:r', id]);
      assert.throws(() => verifier.verify(body.replace('it failed', 'it held'), headers));
    } finally {
      Date.now = at;
    }
  });

  test('of Slack is not signed', () => {
    assert.deepEqual(Object.keys(request('slack', runNotice('')).headers), ['content-type', 'idempotency-key']);
  });
});
