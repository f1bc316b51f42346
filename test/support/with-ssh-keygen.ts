/** Some tests sign with the real `ssh-keygen`. A machine without OpenSSH leaves them out, and CI never does. */
import { spawnSync } from 'node:child_process';

const isMissing = process.env['CI'] === undefined && spawnSync('ssh-keygen', ['-?']).error !== undefined;

/** Options of a test or suite. */
export const WITH_SSH_KEYGEN: { skip?: string } = isMissing ? { skip: 'ssh-keygen of OpenSSH is missing' } : {};
