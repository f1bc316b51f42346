/** Whether an address is one of Temporal Cloud, where a namespace is set up with other commands. */
export const isTemporalCloud = (address: string): boolean => /\.(tmprl\.cloud|api\.temporal\.io)(:\d+)?$/.test(address);
