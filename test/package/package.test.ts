/** What users get: the commands of the README, the installed package, and jobs of CI. They share one `belay dev`. */
import './readme.ts';
import './installed.ts';
import './ci.ts';
