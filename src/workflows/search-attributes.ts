/** Sets search attributes, if the worker reports that the namespace has them. */
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { attributePairs, type Attributes } from '../request/search-attributes.ts';

/** Sets what differs from what the workflow has: each change is an event and a billed action. */
export function setAttributes(enabled: boolean, attributes: Attributes): void {
  if (!enabled) return;
  const { typedSearchAttributes: before } = workflowInfo();
  const changed = attributePairs(attributes).filter(
    ({ key, value }) => JSON.stringify(before.get<typeof key.type>(key)) !== JSON.stringify(value),
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** What a child has from its start on, which costs neither an event nor an action. */
export const startAttributes = (enabled: boolean, attributes: Attributes) =>
  enabled ? { typedSearchAttributes: attributePairs(attributes) } : {};
