import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseXml, XmlElement } from '@rgrove/parse-xml';
import fc from 'fast-check';
import { linearAxis, logAxis } from '../../bench/plot/axis.ts';
import { barPlot, stackedBarPlot } from '../../bench/plot/bar-plot.ts';
import { cumulativePlot } from '../../bench/plot/cumulative-plot.ts';
import { linePlot } from '../../bench/plot/line-plot.ts';

const NASTY = `a < b & "c" > 'd' ]]> <!-- é \u0000\u001b`;
const TEXT = `a < b & "c" > 'd' ]]> <!-- é `;

/** @throws unless it is well-formed XML with finite places */
function elementsOf(svg: string): XmlElement[] {
  const { root } = parseXml(svg);
  assert.equal(root?.name, 'svg');
  assert.doesNotMatch(svg, /NaN|Infinity|undefined|null/);
  return root.children.filter((it) => it instanceof XmlElement);
}

const textsIn = (svg: string) => elementsOf(svg).flatMap((it) => (it.name === 'text' ? [it.text] : []));

test('plots are well-formed XML, whatever their texts are', () => {
  const point = [1, 2] as const;
  const plots = [
    cumulativePlot(NASTY, [{ name: NASTY, values: [1, 5, 90] }], NASTY),
    linePlot({
      ...{ title: NASTY, xText: NASTY, yText: NASTY, lines: [{ name: NASTY, points: [point] }] },
      marks: [{ x: 1, text: NASTY }],
    }),
    barPlot(NASTY, [{ name: NASTY, value: 1, text: NASTY }]),
    stackedBarPlot(NASTY, [NASTY], [{ name: NASTY, values: [3] }]),
  ];
  for (const plot of plots) assert.ok(textsIn(plot).filter((text) => text === TEXT).length >= 2, plot);
});

test('plots without values, or with nothing but zeros, are well-formed', () => {
  const texts = { title: 'title', xText: 'x', yText: 'y' };
  const lines = [
    { name: 'none', points: [] },
    { name: 'zero', points: [[0, 0] as const], fit: null },
  ];
  const plots = [
    cumulativePlot('none', []),
    cumulativePlot('none', [{ name: 'none', values: [] }]),
    cumulativePlot('zero', [{ name: 'zero', values: [0, 0] }]),
    ...[true, false].map((logY) => linePlot({ ...texts, lines, logY })),
    ...[true, false].map((logY) => linePlot({ ...texts, lines: [], logY })),
    barPlot('zero', [{ name: 'zero', value: 0, text: '0' }]),
    stackedBarPlot('zero', ['part'], [{ name: 'zero', values: [0] }]),
  ];
  for (const plot of plots) elementsOf(plot);
});

test('a cumulative plot leaves out curves without values, and never goes down', () => {
  const plot = cumulativePlot('title', [
    { name: 'none', values: [] },
    { name: 'some', values: [0, 3, 3, 40, 2_000] },
  ]);
  assert.ok(!textsIn(plot).includes('none'));
  const [line] = elementsOf(plot).filter(({ name }) => name === 'polyline');
  const places = line!.attributes.points!.split(' ').map((place) => place.split(',').map(Number));
  places.reduce(([x, y], place) => {
    assert.ok(place[0]! >= x! && place[1]! <= y!, line!.attributes.points);
    return place;
  });
});

test('the fitted line of a plot is drawn through the points that it fits', () => {
  const points = [100, 200, 400].map((x) => [x, 50 + 2 * x] as const);
  const fit = { slope: 2, intercept: 50 };
  const plot = linePlot({ title: 'title', xText: 'x', yText: 'y', lines: [{ name: 'line', points, fit }] });
  const elements = elementsOf(plot);
  const [line] = elements.filter(({ name }) => name === 'polyline');
  const [from, to] = line!.attributes.points!.split(' ').map((place) => place.split(',').map(Number));
  const dots = elements.filter(({ name }) => name === 'circle');
  assert.equal(dots.length, points.length);
  for (const { attributes } of dots) {
    const share = (Number(attributes.cx) - from![0]!) / (to![0]! - from![0]!);
    assert.ok(Math.abs(from![1]! + share * (to![1]! - from![1]!) - Number(attributes.cy)) < 1);
  }
});

test('the parts of a stacked bar follow each other, and its text is their sum', () => {
  const plot = stackedBarPlot('title', ['a', 'b'], [{ name: 'bar', values: [30, 70] }]);
  const rects = elementsOf(plot).filter(({ name, attributes }) => name === 'rect' && attributes.height === '22');
  const [first, second] = rects.map(({ attributes }) => ({ x: Number(attributes.x), width: Number(attributes.width) }));
  assert.ok(Math.abs(first!.x + first!.width - second!.x) < 0.2);
  assert.ok(Math.abs(second!.width / first!.width - 7 / 3) < 0.01);
  assert.ok(textsIn(plot).includes('100'));
});

test('an axis holds every value between its ends', () => {
  const values = fc.array(fc.double({ min: 1e-3, max: 1e7, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(values, (all) => {
      const [least, most] = [Math.min(...all), Math.max(...all)];
      for (const axis of [linearAxis(most), logAxis(least, most)]) {
        assert.ok(axis.ticks.length >= 2 && axis.ticks.length <= 12, axis.ticks.join());
        for (const value of all) assert.ok(axis.at(value) >= -1e-9 && axis.at(value) <= 1 + 1e-9);
        assert.ok(Math.abs(axis.at(axis.ticks.at(-1)!) - 1) < 1e-9);
      }
    }),
  );
});
