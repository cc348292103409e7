import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Reply, RequestError, Requests, requestText, Transport} from '../src/requests';

class Fake implements Transport {
  baked = false;
  asked: string[] = [];
  waiting: {request: string, resolve: (reply: Reply) => void, reject: (error: unknown) => void}[] =
      [];
  get(request: string): Promise<Reply> {
    this.asked.push(request);
    return new Promise((resolve, reject) => {
      this.waiting.push({request, resolve, reject});
    });
  }
}

test('requests as text', () => {
  assert.equal(requestText('trace'), 'trace');
  assert.equal(
      requestText('lanes', [['ids', 'p:*'], ['from', 0], ['to', 5]]), 'lanes?ids=p:*&from=0&to=5');
  assert.equal(
      requestText('goroutines', [['each', true], ['top', null], ['at', false]]), 'goroutines?each');
  assert.equal(
      requestText('search', [['text', 'a&b=c <ü>']]), 'search?text=a%26b%3Dc%20%3C%C3%BC%3E');
});

test('answers are kept once the trace is read, and not before', async () => {
  const fake = new Fake(), requests = new Requests(fake);
  const first = requests.json<{n: number}>('trace');
  fake.waiting.shift()!.resolve({status: 200, text: '{"n":1}'});
  assert.deepEqual(await first, {n: 1});
  requests.complete = true;
  const second = requests.json('trace');
  fake.waiting.shift()!.resolve({status: 200, text: '{"n":2}'});
  assert.deepEqual(await second, {n: 2});
  assert.deepEqual(await requests.json('trace'), {n: 2});
  assert.equal(fake.asked.length, 2);
});

test('what was asked for last goes first, and what is slow leaves room for the rest', async () => {
  const fake = new Fake(), requests = new Requests(fake);
  requests.complete = true;
  const all = [
    'path', 'flame', 'gc', 'heap', 'leaks', 'lanes', 'strip', 'marks', 'span', 'groups'
  ].map((name) => requests.text(name));
  assert.deepEqual(fake.asked, ['path', 'flame', 'gc', 'lanes', 'strip', 'marks']);
  const answer = async (request: string) => {
    fake.waiting.find((w) => w.request === request)!.resolve({status: 200, text: ''});
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  await answer('path');
  assert.deepEqual(fake.asked.slice(6), ['groups']);
  await answer('lanes');
  assert.deepEqual(fake.asked.slice(6), ['groups', 'span']);
  await answer('strip');
  assert.deepEqual(fake.asked.slice(6), ['groups', 'span', 'leaks']);
  await all[0];
});

test('requests that nobody waits for any more are not sent', async () => {
  const fake = new Fake(), requests = new Requests(fake), abort = new AbortController();
  requests.complete = true;
  for (const name of ['lanes', 'strip', 'marks', 'span', 'groups', 'trace'])
    void requests.text(name);
  const late = requests.text('search', [], abort.signal);
  abort.abort();
  fake.waiting.shift()!.resolve({status: 200, text: ''});
  await assert.rejects(late);
  assert.ok(!fake.asked.includes('search'));
});

test('errors have the text of the answer, and a server that ends is noticed', async () => {
  const fake = new Fake(), requests = new Requests(fake);
  let gone = 0, back = 0;
  requests.onServerGone = () => {
    gone++;
  };
  requests.onServerBack = () => {
    back++;
  };
  const bad = requests.text('lanes');
  fake.waiting.shift()!.resolve({status: 404, text: '{"error":"no lane p:9"}'});
  await assert.rejects(
      bad,
      (error: unknown) =>
          error instanceof RequestError && error.status === 404 && error.message === 'no lane p:9');
  const odd = requests.text('lanes');
  fake.waiting.shift()!.resolve({status: 502, text: '<html>'});
  await assert.rejects(
      odd, (error: unknown) => error instanceof RequestError && error.message === 'status 502');
  const lost = requests.text('trace');
  fake.waiting.shift()!.reject(new TypeError('failed to fetch'));
  await assert.rejects(lost);
  assert.equal(gone, 1);
  const again = requests.text('trace');
  fake.waiting.shift()!.resolve({status: 200, text: '{}'});
  await again;
  assert.equal(back, 1);
});

test('what needs the whole trace waits until it is read', async () => {
  const fake = new Fake(), requests = new Requests(fake), abort = new AbortController();
  const summary = requests.text('summary?from=1&to=2');
  const late = requests.text('span', [], abort.signal);
  void requests.text('strip');
  assert.deepEqual(fake.asked, ['strip']);
  abort.abort();
  requests.complete = true;
  await assert.rejects(late);
  assert.deepEqual(fake.asked, ['strip', 'summary?from=1&to=2']);
  fake.waiting[1]!.resolve({status: 200, text: 'there'});
  assert.equal(await summary, 'there');
});

test('answers that are not known yet are asked for again', async () => {
  const fake = new Fake(), requests = new Requests(fake);
  const answer = requests.text('lanes');
  fake.waiting.shift()!.resolve({status: 503, text: '{"error":"not yet"}'});
  await new Promise((resolve) => setTimeout(resolve, 350));
  fake.waiting.shift()!.resolve({status: 200, text: 'now'});
  assert.equal(await answer, 'now');
});
