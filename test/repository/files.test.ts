/** What the repository has besides code. One process: most of these take less time than it takes to start. */
import './files/ci-templates.ts';
import './files/compose-hardening.ts';
import './files/compose.ts';
import './files/documents.ts';
import './files/kubernetes-schema.ts';
import './files/kubernetes.ts';
import './files/layers.ts';
import './files/monitoring.ts';
import './files/readme.ts';
import './files/reference-docs.ts';
import './files/release.ts';
import './files/schemas.ts';
import './files/verdicts-table.ts';
import './files/workflows.ts';
