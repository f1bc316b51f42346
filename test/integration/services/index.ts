import './two-services.ts';
import './queues.ts';
import './restores.ts';
import './after-restore.ts';
