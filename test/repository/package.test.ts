/** What a reader of the README gets: the commands, and the package when it is installed. They share one `belay dev`. */
import './package/readme.ts';
import './package/installed.ts';
