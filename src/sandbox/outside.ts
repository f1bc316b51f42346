/** Another user deploys a target, or backs it up. */
import type { Resource } from './script.ts';
import type { State } from './state.ts';

export function actFromOutside(state: State, resource: Resource): void {
  const { id, kind, on } = state.begin(resource, 'outside');
  const request = kind === 'backup' ? `another user backs up ${on.id}` : `a push deploys ${on.id}`;
  state.note({ by: 'outside', request, began: { id, kind, target: on.id } });
}
