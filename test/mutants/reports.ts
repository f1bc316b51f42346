/** Reports that are out of date, or that never end. */
import { change, integration, sim, type TestedMutant } from './mutant.ts';

export const REPORTS: TestedMutant[] = [
  {
    rule: 'the state that arrives last counts',
    changes: [
      change(
        'features/notifications/report-workflow.ts',
        'if (isLater(given, this.#run)) this.#run = given;',
        'this.#run = given;',
      ),
    ],
    test: sim('rules/events/reports', 'an older state that arrives after a newer one'),
  },
  {
    rule: 'what a run was when it was first told is sent until it is taken',
    changes: [
      change(
        'features/notifications/report-workflow.ts',
        'reported = receiver.stateIn(latest) ?? reported;',
        'if (count === 0) reported = receiver.stateIn(latest) ?? reported;',
      ),
    ],
    test: sim('rules/events/reports', 'a state that a later one overtook'),
  },
  {
    rule: 'nobody looks whether a run still goes on',
    changes: [
      change(
        'features/notifications/report-workflow.ts',
        'latest.take({ ...found,',
        'if (found.run === undefined) latest.take({ ...found,',
      ),
    ],
    test: sim('rules/events/reports', 'a terminated run'),
  },
  {
    rule: 'a run tells the states of all its sites with each change',
    changes: [change('features/notifications/observers.ts', '{ ...now, parts }', '{ ...now }')],
    test: sim('rules/events/reports', 'what a run tells of its sites grows'),
  },
  {
    rule: 'a change of a site is lost if a newer change of another one arrived before it',
    changes: [
      change(
        'features/notifications/report-workflow.ts',
        'if (known === undefined || isLater(given, known)) this.#parts',
        'if (known === undefined || (isLater(given, known) && !isLater(this.#run, given))) this.#parts',
      ),
    ],
    test: sim('rules/events/reports', 'a change of one site that arrives after'),
  },
  {
    rule: 'any deployment of the commit at GitLab counts as that of this run',
    changes: [change('features/notifications/worker-gitlab.ts', 'id > after', 'id > after - after')],
    test: integration('events/gitlab-deployments', 'deployments of another commit'),
  },
];
