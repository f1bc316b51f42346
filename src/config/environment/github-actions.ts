/** What GitHub Actions gives to a job that may ask for a token about itself. The job sets it, no person does. */
export function tokenRequest(env: NodeJS.ProcessEnv = process.env): { address: string | null; secret: string | null } {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address = null, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret = null } = env;
  return { address, secret };
}

/** Whether a job of GitHub Actions reads what is printed. */
export const isGithubActions = (env: NodeJS.ProcessEnv = process.env): boolean => env['GITHUB_ACTIONS'] === 'true';
