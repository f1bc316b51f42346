/** What a CI system says in the environment about the job that runs here. The system sets it, no person does. */
import detectCiEnvironment from '@cucumber/ci-environment';
import { nonEmpty } from './variables.ts';

/** The variables that name who started the job, which the library does not report. Keys are its names of the systems. */
const WHO: Record<string, readonly string[]> = {
  'Azure Pipelines': ['BUILD_REQUESTEDFOR'], // cspell:disable-line
  CircleCI: ['CIRCLE_USERNAME'],
  'GitHub Actions': ['GITHUB_TRIGGERING_ACTOR', 'GITHUB_ACTOR'],
  GitLab: ['GITLAB_USER_LOGIN'],
  Jenkins: ['BUILD_USER_ID', 'BUILD_USER'],
};

/** As notes of a run: `by`, `commit` and `job`, as far as they are known. Empty outside of CI. */
export function ciFacts(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const found = detect(env);
  if (found === undefined) return {};
  const by = (WHO[found.name] ?? []).map((name) => nonEmpty(env[name])).find((it) => it !== null);
  const commit = found.git?.revision;
  return {
    ...(by === undefined ? {} : { by }),
    ...(commit === undefined ? {} : { commit }),
    ...(isPlainLink(found.url) ? { job: found.url } : {}),
  };
}

/**
 * For a pull request, the library reads the file of the event, which may be missing in a container. No deployment may
 * fail because of that.
 */
function detect(env: NodeJS.ProcessEnv): ReturnType<typeof detectCiEnvironment> {
  try {
    return detectCiEnvironment(env);
  } catch {
    return undefined;
  }
}

/** An address with a user or password must not be stored. */
function isPlainLink(text: string | undefined): text is string {
  if (text === undefined || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
