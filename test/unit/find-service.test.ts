import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { findService } from '../../src/client/find-service.ts';
import { identityText } from '../../src/contract/worker-identity.ts';
import { tempFolder } from '../support/temporal.ts';

const [OLD, NEW, OTHER] = ['https://old.example', 'https://new.example', 'https://other.example'];

const worker = (service: string) =>
  identityText({ version: '0.1.0', where: 'host:7', service, since: '2027-03-01T12:00:00Z' });

let folder: string;
before(async () => {
  folder = await tempFolder();
});

/** @param named what is named, by whom */
async function found(
  named: { option?: string; variable?: string; account?: string; file?: string },
  workers: string[] = [],
): Promise<string | null> {
  const path = join(folder, 'belay.yaml');
  await writeFile(path, named.file ?? '');
  process.env.BELAY_CONFIG = path;
  process.env.BELAY_SERVICE = named.variable ?? '';
  process.env.BELAY_ACCOUNT = named.account ?? '';
  const session = { service: named.option ?? null, taskQueue: 'belay' };
  return (await findService(session, workers.map(worker)))?.service ?? null;
}

test('--service wins over BELAY_SERVICE, which wins over belay.yaml, which wins over the workers', async () => {
  const file = `service: ${OTHER}/file`;
  const variable = `${OTHER}/variable`;
  assert.equal(await found({ option: `${OTHER}/option`, variable, file }, [NEW]), `${OTHER}/option`);
  assert.equal(await found({ variable, file }, [NEW]), variable);
  assert.equal(await found({ file }, [NEW]), `${OTHER}/file`);
  assert.equal(await found({}, [NEW]), NEW);
  assert.equal(await found({}), null);
});

test('the old and the new URL of a service that moves are one service', async () => {
  const file = `formerly: [${OLD}]`;
  assert.equal(await found({ file }, [OLD, NEW, NEW]), NEW);
  assert.equal(await found({ file }, [OLD]), OLD);
  await assert.rejects(found({ file }, [OLD, NEW, OTHER]), {
    type: 'Usage',
    message: /serve several services, https:\/\/new\.example and https:\/\/other\.example:/,
  });
  await assert.rejects(found({}, [OLD, NEW]), { type: 'Usage' });
});

test('BELAY_ACCOUNT alone admits only workers of that account', async () => {
  const account = 'shop';
  assert.equal(await found({ account }, [`${NEW}#shop`]), `${NEW}#shop`);
  assert.equal(await found({ account }, [`${NEW}#shop`, `${NEW}#blog`]), `${NEW}#shop`);
  assert.equal(await found({ account }), null);
  for (const other of [NEW, `${NEW}#blog`]) {
    await assert.rejects(found({ account }, [other]), { type: 'Usage', message: /serves the account "shop"/ });
  }
});
