// The colours of the page, which its style sheet defines, for canvases.

export interface Palette {
  states: string[];
  /** The same as bytes: red, green, blue. */
  rgb: [number, number, number][];
  /** What is written on a state. */
  on: string[];
  bg: string;
  fg: string;
  dim: string;
  line: string;
  soft: string;
  select: string;
  goal: string;
  font: string;
  version: number;
}

export const STATE_NAMES = [
  'idle', 'running', 'runnable', 'syscall', 'network', 'blocked', 'gc', 'assist', 'scheduler',
  'stopped'
];

/** How the page calls states, wherever it does. */
export const STATE_LABELS: Record<string, string> = {
  idle: 'idle',
  running: 'running',
  runnable: 'waiting to run',
  syscall: 'syscall',
  network: 'network',
  blocked: 'blocked',
  gc: 'collector',
  assist: 'mark assist',
  scheduler: 'scheduler',
  stopped: 'world stopped',
};

/** The states of commands, as codes. */
export function codeOfGoState(state: string, reason: string, start: string): number {
  if (reason.startsWith('world stopped')) return 9;
  switch (state) {
    case 'Running':
      return reason === 'GC mark assist' ? 7 : start === 'runtime.gcBgMarkWorker' ? 6 : 1;
    case 'Runnable':
      return 2;
    case 'Syscall':
      return 3;
    case 'Waiting':
      return reason === 'network' ? 4 : 5;
    default:
      return 0;
  }
}

function parse(color: string): [number, number, number] {
  const match = /^#(..)(..)(..)$/.exec(color);
  return match ? [parseInt(match[1]!, 16), parseInt(match[2]!, 16), parseInt(match[3]!, 16)] :
                 [128, 128, 128];
}

let version = 0;

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement), body = getComputedStyle(document.body);
  const get = (name: string) => style.getPropertyValue(name).trim();
  const states = STATE_NAMES.map((name) => get(`--${name}`));
  const rgb = states.map(parse);
  return {
    states,
    rgb,
    on: rgb.map(([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#111315' : '#ffffff'),
    bg: get('--bg'),
    fg: get('--fg'),
    dim: get('--dim'),
    line: get('--line'),
    soft: get('--soft'),
    select: get('--select'),
    goal: get('--dim'),
    // The short form is empty where one of the properties that it has not is set.
    font: `${body.fontSize} ${body.fontFamily}`,
    version: ++version,
  };
}
