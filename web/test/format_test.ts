import assert from 'node:assert/strict';
import {test} from 'node:test';

import {
  bytes,
  count,
  duration,
  exactDuration,
  fitName,
  moment,
  nameForms,
  parseDuration,
  percent,
  tickLabel,
  tickStep,
  times,
  visible,
  wallClock
} from '../src/format';

test('durations have three digits', () => {
  const cases: [number, string][] = [
    [0, '0'],
    [1, '1 ns'],
    [999, '999 ns'],
    [1000, '1.00 µs'],
    [9994, '9.99 µs'],
    [9996, '10.0 µs'],
    [32_200_123, '32.2 ms'],
    [244_409_921, '244 ms'],
    [999_400, '999 µs'],
    [999_600, '1.00 ms'],
    [1_200_149_505, '1.20 s'],
    [99_960_000_000, '100 s'],
    [1_234_000_000_000, '1234 s'],
    [-1500, '-1.50 µs'],
  ];
  for (const [ns, text] of cases) assert.equal(duration(ns), text);
});

test('exact durations have every digit', () => {
  assert.equal(exactDuration(32_200_123), '32.200123 ms');
  assert.equal(exactDuration(1_000_000_000), '1 s');
  assert.equal(exactDuration(1_000_000_001), '1.000000001 s');
  assert.equal(exactDuration(640), '640 ns');
  assert.equal(exactDuration(0), '0 ns');
});

test('durations are read', () => {
  assert.equal(parseDuration('1.5ms'), 1_500_000);
  assert.equal(parseDuration(' 20 µs'), 20_000);
  assert.equal(parseDuration('.5s'), 500_000_000);
  assert.equal(parseDuration('400'), 400);
  for (const text of ['', 'ms', '1 h', '1e3', '-1', '<script>'])
    assert.equal(parseDuration(text), null);
});

test('sizes and counts', () => {
  assert.equal(bytes(0), '0');
  assert.equal(bytes(1023), '1023 B');
  assert.equal(bytes(116_884_192), '111 MiB');
  assert.equal(bytes(1024 * 1024 - 1), '1.00 MiB');
  assert.equal(count(6146066), '6,146,066');
  assert.deepEqual([1, 2.346, 10, 99.96, 2910.4].map(times), ['1', '2.35', '10', '100', '2,910']);
  assert.equal(percent(1, 3), '33 %');
  assert.equal(percent(999, 1000), '99.9 %');
  assert.equal(percent(99_999, 1e5), '99.9 %');
  assert.equal(percent(1, 1), '100 %');
  assert.equal(percent(1, 1e6), '<0.1 %');
  assert.equal(percent(0, 0), '');
});

test('ticks are 1, 2 or 5 times a power of ten', () => {
  assert.equal(tickStep(1000, 100), 100_000);
  assert.equal(tickStep(1001, 100), 200_000);
  assert.equal(tickStep(3000, 100), 500_000);
  assert.equal(tickStep(6000, 100), 1_000_000);
  assert.equal(tickStep(0.001, 100), 1);
});

test('labels of ticks have the decimals that their distance needs', () => {
  assert.equal(tickLabel(0, 50_000_000, 2e8), '0 ms');
  assert.equal(tickLabel(150_000_000, 50_000_000, 2e8), '150 ms');
  assert.equal(tickLabel(1_637_500_000, 500_000, 1_638_000_000), '1637.5 ms');
  assert.equal(tickLabel(1_200_000_000, 200_000_000, 2e9), '1.2 s');
  assert.equal(tickLabel(12_346_000, 1000, 13_000_000), '12.346 ms');
  assert.equal(tickLabel(12_345_678, 1, 12_345_999), '12\u202f345.678 µs');
  assert.equal(tickLabel(7, 1, 20), '7 ns');
  // The ticks of an axis that ends after seconds are seconds, and so are those before the first.
  assert.equal(tickLabel(0, 500_000_000, 2e9), '0.0 s');
  assert.equal(tickLabel(500_000_000, 500_000_000, 2e9), '0.5 s');
  assert.equal(moment(999_000_000, 1e10, 1e10), '1.00 s');
  assert.equal(moment(999_000_000, 1e6, 1e10), '999.000 ms');
});

test('labels of neighbours differ at every zoom', () => {
  for (let step = 1; step <= 1e11; step *= 10) {
    for (const factor of [1, 2, 5]) {
      for (const start of [0, 123_456_789_000, 999_999_999]) {
        const s = step * factor, t = Math.ceil(start / s) * s;
        assert.ok(tickLabel(t, s, t + s) !== tickLabel(t + s, s, t + s), `${t} ${s}`);
      }
    }
  }
});

test('the wall clock', () => {
  assert.equal(wallClock('2026-11-21T04:25:07.370705592Z', 0, 1), '04:25:07.370705592');
  assert.equal(wallClock('2026-11-21T04:25:07.370705592Z', 629_294_408, 1), '04:25:08.000000000');
  assert.equal(wallClock('2026-11-21T04:25:07Z', 60_000_000_000, 1e9), '04:26:07');
  assert.equal(wallClock('2026-11-21T23:59:59.9Z', 200_000_000, 1e6), '00:00:00.100');
  assert.equal(wallClock('nonsense', 0, 1), '');
});

test('texts from traces cannot change the page around them', () => {
  assert.equal(visible('a\u202eb\u0000c\nd\u200f'), 'a\ufffdb\u2400c\u240ad\ufffd');
  assert.equal(visible('<script>alert(1)</script>'), '<script>alert(1)</script>');
  assert.equal(visible('\u05d0\u05d1 täsk \ufffd'), '\u05d0\u05d1 täsk \ufffd');
});

test('names lose their package before they lose letters', () => {
  assert.deepEqual(
      nameForms('net/http.(*conn).serve'),
      ['net/http.(*conn).serve', 'http.(*conn).serve', '(*conn).serve', 'serve']);
  assert.deepEqual(nameForms('main.main'), ['main.main', 'main']);
  assert.deepEqual(
      nameForms('example.com/a/b.F[go.shape.*example.com/c.T]')[1],
      'b.F[go.shape.*example.com/c.T]');
  assert.deepEqual(nameForms(''), ['']);
  const fits = (n: number) => (text: string) => text.length <= n;
  assert.equal(fitName('net/http.(*conn).serve', fits(30)), 'net/http.(*conn).serve');
  assert.equal(fitName('net/http.(*conn).serve', fits(18)), 'http.(*conn).serve');
  assert.equal(fitName('net/http.(*conn).serve', fits(6)), 'serve');
  assert.equal(fitName('net/http.(*conn).serveRequest', fits(8)), '…Request');
  assert.equal(fitName('net/http.(*conn).serve', fits(2)), '');
  assert.equal(fitName('x'.repeat(1024), fits(10)).length, 10);
  assert.equal(fitName('', fits(10)), '');
});
