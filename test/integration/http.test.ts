/** Both ends of HTTP, without Temporal: the client of the service, activities, and the sandbox. */
import './http/service-client.ts';
import './http/site-reader.ts';
import './http/github-proof.ts';
import './http/probe.ts';
import './http/proxy.ts';
import './http/pacing.ts';
import './http/target-reader.ts';
import './http/activities.ts';
import './http/sandbox.ts';
import './http/sandbox-webhooks.ts';
