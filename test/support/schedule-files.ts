/** Files with schedules, and what becomes of them. */
import { Temporal } from 'temporal-polyfill';
import type { z } from 'zod';
import { configurationSchema } from '../../src/config/file/file-schema.ts';
import { planSchedules } from '../../src/features/schedules/config.ts';
import type { ScheduleDefinition } from '../../src/features/schedules/shapes.ts';

export type File = z.input<typeof configurationSchema>;

/** @param year the first year whose skipped times are known */
export function definitionsOf(file: File, year = 2025): ScheduleDefinition[] {
  return planSchedules(configurationSchema.parse(file), year).map(({ definition }) => definition);
}

/** The dates from `first` to `last` days after a date. */
export const days = (date: string, first: number, last: number): Temporal.PlainDate[] =>
  Array.from({ length: last - first + 1 }, (_, index) => Temporal.PlainDate.from(date).add({ days: first + index }));
