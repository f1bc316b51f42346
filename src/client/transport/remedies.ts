/** What to do if there is no connection to Temporal, for people. */
export const START_TEMPORAL = 'start `belay dev`, or set TEMPORAL_ADDRESS to the address of Temporal';
export const CHECK_CREDENTIALS = 'check the API key or the client certificate, and the namespace that they are for';
