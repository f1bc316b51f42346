/** Tokens and addresses of another kind than belay.yaml names. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkApi, checkChannelKind, checkTokenKind } from '../../src/features/notifications/worker-post.ts';

const CANARY = 'canary-90b1f3';
const isTold = (message: RegExp) => (error: Error) => {
  assert.equal(error.name, 'ConfigError');
  assert.match(error.message, message);
  return !error.message.includes(CANARY);
};

describe('a token or address of the wrong kind', () => {
  for (const [kind, token] of [
    ['gitlab', `ghp_${CANARY}`],
    ['gitlab', `github_pat_${CANARY}`],
    ['github', `glpat-${CANARY}`],
  ] as const) {
    test(`is rejected for ${kind} if it begins with ${token.replace(CANARY, '')}, and not shown`, () => {
      assert.throws(
        () => checkTokenKind('k.token', kind, token),
        isTold(/^k\.token: it is a token of git(hub|lab), and/),
      );
    });
  }

  for (const [kind, url] of [
    ['github', 'https://github.com/acme'],
    ['github', 'https://gitlab.com/api/v4'],
    ['github', 'https://git.example/api/v4'],
    ['gitlab', 'https://api.github.com/'],
    ['gitlab', 'https://git.example/api/v3'],
  ] as const) {
    test(`is rejected as url for ${kind} if it is ${url}`, () => {
      assert.throws(
        () => checkApi('k.url', kind, url),
        isTold(/^k\.url: it is not the API of git(hub|lab): write https/),
      );
    });
  }

  for (const [kind, host, found] of [
    ['slack', 'discord.com/api/webhooks/1', 'discord'],
    ['discord', 'hooks.slack.com/services', 'slack'],
    ['webhook', 'prod-7.westeurope.logic.azure.com/workflows', 'teams'],
    ['discord', 'discord.com/api/webhooks/1/slack', 'slack'],
  ] as const) {
    test(`is rejected for a channel of ${kind} at ${host}, and not shown`, () => {
      const address = `https://${host.replace(/\/slack$/, '')}/${CANARY}${host.endsWith('/slack') ? '/slack' : ''}`;
      assert.throws(
        () => checkChannelKind('k', kind, address),
        isTold(new RegExp(`one of ${found}: write kind: ${found}$`)),
      );
    });
  }

  test('is rejected for Teams if it is one of the connectors that have ended', () => {
    const address = `https://acme.webhook.office.com/${CANARY}`;
    assert.throws(() => checkChannelKind('k', 'teams', address), isTold(/make one of a workflow$/));
  });

  test('is not seen where any kind may be', () => {
    for (const kind of ['github', 'gitlab'] as const) {
      assert.equal(checkTokenKind('k', kind, CANARY), CANARY);
      assert.equal(checkApi('k', kind, 'https://git.example/base'), 'https://git.example/base');
    }
    checkApi('k', 'github', 'https://api.acme.ghe.com');
    checkChannelKind('k', 'slack', `https://discord.com/api/webhooks/1/${CANARY}/slack`);
    for (const kind of ['slack', 'teams', 'discord', 'webhook'] as const)
      checkChannelKind('k', kind, `https://chat.example/${CANARY}`);
  });
});
