/** Asks Prometheus one question, and reads its answer. */
import { z } from 'zod';
import { jsonOf, type Page } from '../../site-check/index.ts';
import { askPage, type GetPage } from './ask-page.ts';
import type { Sample } from './judge.ts';
import type { Place } from './measured.ts';

const MAX_SERIES_TEXT = 120;

export type Answer = { samples: Sample[] } | { error: string; isRefused: boolean };

interface Question extends Place {
  query: string;
}

/** The address has the path before `/api/v1`, if there is one. */
export async function askPrometheus({ address, headers, query }: Question, getPage: GetPage): Promise<Answer> {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/query`;
  url.searchParams.set('query', query);
  const answer = await askPage(url, headers, getPage);
  return 'error' in answer ? failed(answer.error) : answerOf(answer);
}

const failed = (error: string, isRefused = false): Answer => ({ error, isRefused });

const point = z.tuple([z.number(), z.string()]);
const data = z.discriminatedUnion('resultType', [
  z.object({ resultType: z.literal('scalar'), result: point }),
  z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: point.optional() })),
  }),
]);
const success = z.object({ status: z.literal('success'), data });
const otherKind = z.object({ status: z.literal('success'), data: z.object({ resultType: z.string() }) });
const failure = z.object({ status: z.literal('error'), error: z.string() });

function answerOf({ status, body }: Page): Answer {
  const json = jsonOf(body);
  if (status === 400 || status === 422) {
    const reason = failure.safeParse(json).data?.error;
    return failed(`the query is refused (${status})${reason === undefined ? '' : `: ${reason}`}`, true);
  }
  if (status !== 200) return failed(`status ${status}`);
  const answer = success.safeParse(json);
  if (answer.success) return samplesOf(answer.data.data);
  const other = otherKind.safeParse(json).data?.data.resultType;
  if (other !== undefined) return failed(`the query gives a ${other}, and a gate needs a scalar or a vector`, true);
  return failed(json === undefined ? 'the answer is not JSON' : 'the answer is not one of Prometheus');
}

function samplesOf(answer: z.infer<typeof data>): Answer {
  if (answer.resultType === 'scalar') return { samples: [{ series: '', value: answer.result[1] }] };
  if (answer.result.some(({ value }) => value === undefined))
    return failed('the query gives native histograms, and a gate needs numbers', true);
  return { samples: answer.result.map(({ metric, value }) => ({ series: seriesText(metric), value: value![1] })) };
}

function seriesText(metric: Record<string, string>): string {
  const { __name__: name = '', ...labels } = metric;
  const all = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return all.length === 0 ? name : `${name}{${all.join(',')}}`.slice(0, MAX_SERIES_TEXT);
}
