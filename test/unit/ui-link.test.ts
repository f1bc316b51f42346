/** Links into the Temporal UI. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLink } from '../../src/client/ui-link.ts';

const RUN = { workflowId: 'backup-then-deploy:s1:feature%2Fx', runId: 'r1', links: { ui: null } };

test('the link of a run leads to the page of its summary and details, and encodes its id once more', () => {
  const { links } = withLink({ uiUrl: 'https://ui.example/temporal', namespace: 'n 1' }, RUN);
  assert.equal(
    links.ui,
    'https://ui.example/temporal/namespaces/n%201/workflows/backup-then-deploy%3As1%3Afeature%252Fx/r1/user-metadata',
  );
});

test('there is no link without the address of the UI', () => {
  assert.equal(withLink({ uiUrl: null, namespace: 'default' }, RUN).links.ui, null);
});
