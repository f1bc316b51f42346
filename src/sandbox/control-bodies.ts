/** What each control of the sandbox takes. */
import { z } from 'zod';
import { deliveryFaultSchema } from './delivery-faults.ts';
import { faultSchema } from './faults.ts';
import { scriptSchema } from './script.ts';
import { subscriptionSchema } from './subscriptions.ts';

const target = z.union([
  z.strictObject({ site: z.string() }),
  z.strictObject({ app: z.string() }),
  z.strictObject({ server: z.string() }),
]);

export const CONTROL_BODIES = {
  scripts: z.strictObject({ target, scripts: z.array(scriptSchema).min(1) }),
  act: target,
  finish: z.strictObject({ target, word: z.string().min(1) }),
  remove: target,
  faults: z.array(faultSchema).min(1),
  limit: z.strictObject({ perSecond: z.number().int().min(0).nullable() }),
  token: z.strictObject({ token: z.string().min(1) }),
  subscriptions: subscriptionSchema,
  'delivery-faults': z.array(deliveryFaultSchema).min(1),
  alert: z.strictObject({ server: z.string(), message: z.string() }),
};

export type ControlName = keyof typeof CONTROL_BODIES;
export type ControlBody<N extends ControlName> = z.infer<(typeof CONTROL_BODIES)[N]>;

export class BadControl extends Error {}

/** @throws BadControl */
export function controlBody<N extends ControlName>(name: N, text: string): ControlBody<N> {
  const refuse = (problem: string) => new BadControl(`${problem}; /sandbox/${name} takes ${formOf(name)}`);
  const body = jsonOf(text);
  if (body === undefined) throw refuse('the body is not JSON');
  const parsed = CONTROL_BODIES[name].safeParse(body);
  if (parsed.success) return parsed.data as ControlBody<N>;
  throw refuse(z.prettifyError(parsed.error));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Each key that a control knows, as in `{target: {site} or {app}, scripts: [{durationMs?}]}`. */
export const formOf = (name: ControlName): string => textOf(z.toJSONSchema(CONTROL_BODIES[name]));

type Form = z.core.JSONSchema.BaseSchema;

function textOf({ anyOf, oneOf = anyOf, properties, required = [], items }: Form): string {
  if (oneOf !== undefined)
    return oneOf
      .map((it) => textOf(it))
      .filter(Boolean)
      .join(' or ');
  if (items !== undefined) return listed(items as Form);
  if (properties === undefined) return '';
  const keys = Object.entries(properties).map(([key, form]) => {
    const value = valueOf(form as Form);
    return `${key}${required.includes(key) ? '' : '?'}${value === '' ? '' : `: ${value}`}`;
  });
  return `{${keys.join(', ')}}`;
}

function listed(items: Form): string {
  return `[${textOf(items)}]`;
}

function valueOf(form: Form): string {
  const words = form.const === undefined ? form.enum : [form.const];
  return words === undefined ? textOf(form) : words.map((word) => JSON.stringify(word)).join(' or ');
}
