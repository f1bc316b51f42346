/** What users get: the commands of the README, the installed package, and jobs of CI. They share one `belay dev`. */
import './package/readme.ts';
import './package/installed.ts';
import './package/ci.ts';
