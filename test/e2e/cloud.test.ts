/** Behind TLS, as in Temporal Cloud: credentials, calls that are refused, and calls that are limited. */
import './cloud/rotation.ts';
import './cloud/refusals.ts';
