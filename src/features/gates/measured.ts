/** What every kind of gate takes and gives. */

/** Where to ask. */
export interface Place {
  address: string;
  headers: Record<string, string>;
}

export interface Limits {
  min?: number | undefined;
  max?: number | undefined;
}

/** `none`: there is no data. `error`: no answer that says anything. `refused`: it cannot be asked in this way. */
export interface Measured {
  state: 'good' | 'bad' | 'none' | 'error' | 'refused';
  value: string | null;
  text: string;
}
