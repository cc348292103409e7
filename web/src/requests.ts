// Asks for answers: from the server, or from those that a report holds. Keeps the answers that were
// used last.

export interface Reply {
  status: number;
  text: string
}

/** Carries a request, such as lanes?ids=p:0, to whoever answers it. */
export interface Transport {
  /** Whether what is missing will never come. */
  readonly baked: boolean;
  get(request: string, signal: AbortSignal): Promise<Reply>;
}

export class RequestError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export type Params = [string, string | number | boolean | null | undefined][];

/**
 * The text of a request. Parameters that are null or false are left out; true ones have no value.
 */
export function requestText(name: string, params: Params = []): string {
  const parts: string[] = [];
  for (const [key, value] of params) {
    if (value === null || value === undefined || value === false) continue;
    parts.push(
        value === true ? key :
                         `${key}=${
                             encodeURIComponent(String(value))
                                 .replace(/%3A/g, ':')
                                 .replace(/%2C/g, ',')
                                 .replace(/%2A/g, '*')}`);
  }
  return parts.length ? `${name}?${parts.join('&')}` : name;
}

export class HttpTransport implements Transport {
  readonly baked = false;
  constructor(private readonly base: string, private readonly token: string) {}

  async get(request: string, signal: AbortSignal): Promise<Reply> {
    const response = await fetch(this.base + request, {
      signal,
      headers: {'X-Gotrace-Token': this.token},
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
    return {status: response.status, text: await response.text()};
  }
}

/** Answers of a report: a map from requests to Base64 of their gzip-compressed answers. */
export class BakedTransport implements Transport {
  readonly baked = true;
  constructor(private readonly answers: Record<string, string>) {}

  async get(request: string): Promise<Reply> {
    const packed =
        Object.prototype.hasOwnProperty.call(this.answers, request) ? this.answers[request]! : null;
    if (packed === null) return {status: 404, text: '{"error":"not in this report"}'};
    const binary = atob(packed);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const stream =
        new Blob([bytes]).stream().pipeThrough(new (window as unknown as {
                                                 DecompressionStream: new (format: string) =>
                                                     ReadableWritablePair<Uint8Array, Uint8Array>;
                                               }).DecompressionStream('gzip'));
    return {status: 200, text: await new Response(stream).text()};
  }
}

interface Waiting {
  request: string;
  signal: AbortSignal;
  resolve: (text: string) => void;
  reject: (error: unknown) => void;
}

/**
 * Browsers have six connections to a server. What takes long gets only some of them, so that
 * drawing need not wait.
 */
const AT_ONCE = 6;
const SLOW_AT_ONCE = 3;
const FAST = new Set([
  'trace', 'strip', 'lanes', 'groups', 'members', 'span', 'arrows', 'marks', 'tasklanes', 'search',
  'time'
]);

/** What is answered while the trace is read. */
const EARLY = new Set(['trace', 'strip', 'lanes', 'groups', 'marks']);
const isSlow = (request: string) => !FAST.has(request.split('?')[0]!);

const CACHE_CHARACTERS = 24 << 20;

export class Requests {
  onServerGone: () => void = () => {};
  onServerBack: () => void = () => {};
  private isComplete = false;
  private gone = false;
  private running = 0;
  private slow = 0;
  private queue: Waiting[] = [];
  private cache = new Map<string, string>();
  private cached = 0;

  constructor(private readonly transport: Transport) {}

  /**
   * Whether the trace is read to its end: only then do answers not change any more, and is
   * everything answered. Other requests wait until then.
   */
  get complete(): boolean {
    return this.isComplete;
  }

  set complete(complete: boolean) {
    this.isComplete = complete;
    this.next();
  }

  get baked(): boolean {
    return this.transport.baked;
  }

  /** Whether an answer is still to come. */
  get busy(): boolean {
    return this.running > 0 || this.queue.length > 0;
  }

  async json<T>(name: string, params: Params = [], signal?: AbortSignal): Promise<T> {
    return JSON.parse(await this.text(name, params, signal)) as T;
  }

  text(name: string, params: Params = [], signal: AbortSignal = new AbortController().signal):
      Promise<string> {
    const request = requestText(name, params);
    const known = this.cache.get(request);
    if (known !== undefined) {
      this.cache.delete(request);
      this.cache.set(request, known);
      return Promise.resolve(known);
    }
    return new Promise((resolve, reject) => {
      this.queue.push({request, signal, resolve, reject});
      this.next();
    });
  }

  private next() {
    // What was asked for last is what somebody looks at now.
    for (let i = this.queue.length - 1; i >= 0 && this.running < AT_ONCE; i--) {
      const waiting = this.queue[i]!, slow = isSlow(waiting.request);
      const early = EARLY.has(waiting.request.split('?')[0]!);
      if (waiting.signal.aborted) {
        this.queue.splice(i, 1);
        waiting.reject(new DOMException('aborted', 'AbortError'));
        continue;
      }
      if (!this.isComplete && !early) continue;
      if (slow && this.slow >= SLOW_AT_ONCE) continue;
      this.queue.splice(i, 1);
      this.running++;
      if (slow) this.slow++;
      this.fetch(waiting).then(waiting.resolve, waiting.reject).finally(() => {
        this.running--;
        if (slow) this.slow--;
        this.next();
      });
    }
  }

  private async fetch({request, signal}: Waiting): Promise<string> {
    for (let wait = 250;; wait = Math.min(2000, wait * 1.5)) {
      let reply: Reply;
      const complete = this.complete;
      try {
        reply = await this.transport.get(request, signal);
      } catch (error) {
        if (!signal.aborted && !this.transport.baked) {
          this.gone = true;
          this.onServerGone();
        }
        throw error;
      }
      if (this.gone) {
        this.gone = false;
        this.onServerBack();
      }
      if (reply.status === 200) {
        if (complete) this.keep(request, reply.text);
        return reply.text;
      }
      if (reply.status !== 503) throw new RequestError(reply.status, errorText(reply));
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (signal.aborted) throw new DOMException('aborted', 'AbortError');
    }
  }

  private keep(request: string, text: string) {
    this.cached += text.length - (this.cache.get(request)?.length ?? 0);
    this.cache.set(request, text);
    for (const [oldest, old] of this.cache) {
      if (this.cached <= CACHE_CHARACTERS || oldest === request) break;
      this.cache.delete(oldest);
      this.cached -= old.length;
    }
  }
}

function errorText(reply: Reply): string {
  try {
    const error = (JSON.parse(reply.text) as {error?: unknown}).error;
    if (typeof error === 'string') return error;
  } catch {
    // Not from the viewer: a proxy's page, perhaps.
  }
  return `status ${reply.status}`;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
