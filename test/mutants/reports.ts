/** Reports that are out of date, or that never end. */
import { change, integration, sim, type TestedMutant } from './mutant.ts';

export const REPORTS: TestedMutant[] = [
  {
    rule: 'the state that arrives last counts',
    changes: [
      change('features/notifications/report-workflow.ts', '!state.isEnd && isLater(given, state)', '!state.isEnd'),
    ],
    test: sim('rules/events/reports', 'an older state that arrives after a newer one'),
  },
  {
    rule: 'what a run was when it was first told is sent until it is taken',
    changes: [change('features/notifications/report-workflow.ts', 'last = receiver.stateIn(state()) ?? last;', '')],
    test: sim('rules/events/reports', 'a state that a later one overtook'),
  },
  {
    rule: 'nobody looks whether a run still goes on',
    changes: [
      change(
        'features/notifications/report-workflow.ts',
        'end({ ...found,',
        'if (found.run === undefined) end({ ...found,',
      ),
    ],
    test: sim('rules/events/reports', 'a terminated run'),
  },
  {
    rule: 'any deployment of the commit at GitLab counts as that of this run',
    changes: [change('features/notifications/worker-gitlab.ts', 'id > after', 'id > after - after')],
    test: integration('events/gitlab-deployments', 'deployments of another commit'),
  },
];
