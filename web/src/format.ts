// Times, sizes and names as text.

const UNITS: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

function digits(value: number): string {
  return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** A duration with three digits: 32.2 ms. */
export function duration(ns: number): string {
  if (ns < 0) return '-' + duration(-ns);
  if (ns === 0) return '0';
  for (let i = 0; i < UNITS.length; i++) {
    const [size, unit] = UNITS[i]!;
    // 999.6 µs is 1.00 ms.
    if (ns >= size * 0.9995 || size === 1) {
      return size === 1 ? `${Math.round(ns)} ns` : `${digits(ns / size)} ${unit}`;
    }
  }
  return '';
}

/** A duration to the nanosecond: 32.200123 ms. */
export function exactDuration(ns: number): string {
  if (ns < 0) return '-' + exactDuration(-ns);
  const [size, unit] = UNITS.find(([s]) => ns >= s) ?? [1, 'ns'];
  const decimals = Math.round(Math.log10(size));
  const text = size === 1 ?
      String(ns) :
      `${Math.floor(ns / size)}.${String(ns % size).padStart(decimals, '0')}`.replace(/\.?0+$/, '');
  return `${text} ${unit}`;
}

/** 1.5ms, 20 µs, 3s or 400 as nanoseconds; null if it is none of these. */
export function parseDuration(text: string): number|null {
  const match = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|m)?\s*$/.exec(text);
  if (!match) return null;
  const size = {ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 6e10}[match[2] ?? 'ns'] ??
      1;
  return Math.round(Number(match[1]) * size);
}

export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** "2.35" or "2,910": how many times as large something is. */
export function times(n: number): string {
  return n >= 99.5 ? count(Math.round(n)) : n.toPrecision(3).replace(/\.?0+$/, '');
}

export function bytes(n: number): string {
  if (n < 0) return '-' + bytes(-n);
  if (n < 1024) return n === 0 ? '0' : `${n} B`;
  let value = n / 1024, unit = 0;
  while (value >= 999.5 && unit < 5) {
    value /= 1024;
    unit++;
  }
  return `${digits(value)} ${['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'][unit]}`;
}

export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return '';
  const share = part / whole * 100;
  if (share > 0 && share < 0.1) return '<0.1 %';
  // Not all of it must not read as all of it.
  if (share > 99 && share < 100) return `${Math.min(99.9, share).toFixed(1)} %`;
  return `${share < 10 ? share.toFixed(1) : share.toFixed(0)} %`;
}

/** How far apart the ticks of an axis are: 1, 2 or 5 times a power of ten, in nanoseconds. */
export function tickStep(nsPerPixel: number, pixels: number): number {
  const least = Math.max(1, nsPerPixel * pixels);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  for (const factor of [1, 2, 5, 10])
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/**
 * The time of a tick, with as many decimals as all ticks need. `end` is the last time of the axis,
 * so that all of them have the same unit.
 */
export function tickLabel(ns: number, step: number, end: number): string {
  const largest = Math.max(end, step);
  // Seconds need nine decimals for single nanoseconds: a smaller unit is shorter there.
  const [size, unit] = step >= 1e6 && largest >= 1e9 ? UNITS[0]! :
      step >= 1e3 && largest >= 1e6                  ? UNITS[1]! :
      step >= 1 && largest >= 1e3 && step < 1e3      ? UNITS[2]! :
                                                       UNITS.find(([s]) => largest >= s) ?? UNITS[3]!;
  const decimals = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  const text = (ns / size).toFixed(decimals);
  return `${ns < 0 ? '-' : ''}${grouped(text.replace('-', ''))} ${unit}`;
}

function grouped(text: string): string {
  const [whole, rest] = text.split('.');
  const parted = whole!.length > 4 ? whole!.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f') : whole!;
  return rest === undefined ? parted : `${parted}.${rest}`;
}

/**
 * A moment of a trace of `end` ns, for people: exact enough for what is `span` ns long. All moments
 * of that trace and span have the same unit.
 */
export function moment(ns: number, span: number, end: number): string {
  return tickLabel(ns, Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, span / 1000)))), end);
}

/**
 * The wall-clock time of a moment, as 04:25:07.370705592, with as many decimals as a step of
 * `step` ns needs.
 */
export function wallClock(wallBegin: string, ns: number, step: number): string {
  const match = /^(.*T\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/.exec(wallBegin);
  if (!match) return '';
  const nanos = Number((match[2] ?? '').padEnd(9, '0').slice(0, 9)) + ns;
  const seconds = Date.parse(`${match[1]}Z`) / 1000 + Math.floor(nanos / 1e9);
  const time = new Date(seconds * 1000).toISOString().slice(11, 19);
  const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(1, step)) - 1e-9)));
  const fraction =
      String(Math.floor(((nanos % 1e9) + 1e9) % 1e9)).padStart(9, '0').slice(0, decimals);
  return fraction ? `${time}.${fraction}` : time;
}

/**
 * A text from a trace that can be shown on one line: controls, and characters that change the
 * direction of the text around them, are replaced with visible ones.
 */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
      .replace(
          /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '\ufffd');
}

/**
 * A function's name in shorter and shorter forms: without the directories of its package, without
 * the package, and without the type of a method.
 */
export function nameForms(name: string): string[] {
  const forms = [name];
  const slash = name.lastIndexOf('/', name.search(/[([]/) < 0 ? name.length : name.search(/[([]/));
  const base = slash < 0 ? name : name.slice(slash + 1);
  if (slash >= 0) forms.push(base);
  const dot = base.indexOf('.');
  if (dot > 0 && dot < base.length - 1) forms.push(base.slice(dot + 1));
  const method = base.lastIndexOf(').');
  if (method >= 0 && method < base.length - 2) forms.push(base.slice(method + 2));
  return forms;
}

/** A function with its package, but without the directories of that. */
export function withoutDirectories(name: string): string {
  const forms = nameForms(name);
  return forms[name.includes('/') && forms.length > 1 ? 1 : 0]!;
}

/**
 * The longest form of a name that `fits`; if none does, as much of its end as fits, after an
 * ellipsis.
 */
export function fitName(name: string, fits: (text: string) => boolean): string {
  const forms = nameForms(name);
  for (const form of forms)
    if (fits(form)) return form;
  const last = forms[forms.length - 1]!;
  let low = 0, high = last.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fits('…' + last.slice(last.length - middle)))
      low = middle;
    else
      high = middle - 1;
  }
  // A letter or two say nothing.
  return low < Math.min(4, last.length) ?
      '' :
      '…' + last.slice(last.length - low).replace(/^[.*)\]]+(?=.{3})/, '');
}

/** The name of a lane: P 0 for p:0. */
export function laneName(id: string): string {
  const [kind, number] = id.split(':') as [string, string?];
  return `${kind.toUpperCase()} ${number ?? ''}`;
}

export function plural(n: number, one: string, many = one + 's'): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
