/** Restate: its server, and a service that waits with durable steps and sleeps. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { intervalMs, isFinal, post, serve, tries } from './peer.js';

// The SDK needs it, and Node 20 lacks it.
Promise.withResolvers ??= function withResolvers() {
  let [resolve, reject] = [];
  const promise = new this((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
};
const restate = await import('@restatedev/restate-sdk');

const waiter = restate.service({
  name: 'waiter',
  handlers: {
    async wait(context, siteId) {
      await context.run('post', () => post(siteId));
      for (let made = 0; made < tries; made += 1) {
        await context.sleep(intervalMs);
        if (await context.run('read', () => isFinal(siteId))) return 'final';
      }
      return 'timed out';
    },
  },
});

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
const [node, admin, ingress] = [await freePort(), await freePort(), await freePort()];
const name = `@restatedev/restate-server-${platform()}-${arch()}`;
const executable = createRequire(import.meta.url).resolve(`${name}/bin/restate-server`);
spawn(executable, [], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    RESTATE_BASE_DIR: mkdtempSync(join(tmpdir(), 'belay-bench-restate-')),
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_LOG_FILTER: 'error',
    RESTATE_DISABLE_TELEMETRY: 'true',
    // It looks for releases of itself otherwise.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
  },
});

const ask = (port, path, body) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const isUp = () =>
  fetch(`http://127.0.0.1:${admin}/health`)
    .then(({ ok }) => ok)
    .catch(() => false);
while (!(await isUp())) await sleep(100);
restate.setLogger?.(() => {});
const port = await restate.serve({ services: [waiter], port: 0, logger: () => {} });
const registered = await ask(admin, '/deployments', { uri: `http://127.0.0.1:${port}` });
if (!registered.ok) throw new Error(await registered.text());
serve(async (siteId) => {
  const answer = await ask(ingress, '/waiter/wait/send', siteId);
  if (!answer.ok) throw new Error(await answer.text());
});
