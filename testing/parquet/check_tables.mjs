// Compares what DuckDB and hyparquet read from Parquet files with their rows:
//
//   node check_tables.mjs FILE.parquet...
//
// The rows are in FILE.jsonl, as random_table writes them. Prints each difference, and exits with 1
// if there is one. Must be in the folder that has the packages, as run.sh sees to.
import {readFileSync} from 'node:fs';

import {DuckDBInstance} from '@duckdb/node-api';
import {asyncBufferFromFile, parquetReadObjects} from 'hyparquet';
import {compressors} from 'hyparquet-compressors';

const duckdb = await (await DuckDBInstance.create(':memory:')).connect();

async function query(sql) {
  const result = await duckdb.runAndReadAll(sql);
  const names = result.columnNames();
  return result.getRows().map(
      (row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
}

// The value of any reader in the form of the expected rows, as text.
function normalize(value) {
  const inner = (v) => {
    if (v === undefined || v === null) return null;
    if (typeof v === 'bigint' || typeof v === 'number') return String(v);
    if (typeof v !== 'object') return v;
    const entries = Array.isArray(v.entries) ? v.entries.map(({key, value}) => [key, value]) :
                                               Object.entries(v);
    return entries.sort(([a], [b]) => (a < b ? -1 : 1));
  };
  return JSON.stringify(inner(value));
}

const readers = {
  DuckDB: (file) => query(`SELECT * FROM '${file}'`),
  hyparquet: async (file) =>
      parquetReadObjects({file: await asyncBufferFromFile(file), compressors}),
};

// Returns the first difference between rows, or null.
function findDifference(expected, actual) {
  if (actual.length !== expected.length) {
    return `expected ${expected.length} rows, found ${actual.length}`;
  }
  for (const [i, row] of expected.entries()) {
    for (const [name, value] of Object.entries(row)) {
      const [a, b] = [normalize(value), normalize(actual[i][name])];
      if (a !== b) return `row ${i}, ${name}: expected ${a}, found ${b}`;
    }
  }
  return null;
}

let failed = false;
let rows = 0;
let filters = 0;

function report(file, reader, difference) {
  if (difference === null) return;
  console.log(`${file}: ${reader}: ${difference}`);
  failed = true;
}

// Counts rows by their values, for which DuckDB leaves out what statistics and Bloom filters say
// has no such row.
async function checkFilters(file, expected) {
  for (const {column_name: name, column_type: type} of await query(`DESCRIBE FROM '${file}'`)) {
    const isText = type === 'VARCHAR';
    if (!isText && !type.endsWith('INT') && !type.endsWith('INTEGER')) continue;
    const parse = isText ? (value) => Buffer.from(value) : BigInt;
    const compare = isText ? Buffer.compare : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    const values = expected.map((row) => row[name]).filter((v) => v !== null).map(parse);
    for (const i of [0, values.length >> 1, values.length - 1]) {
      const wanted = values[i];
      if (wanted === undefined) continue;
      const literal = isText ? `decode(from_hex('${wanted.toString('hex')}'))` : wanted;
      for (const [operator, holds] of
               [['=', (c) => c === 0], ['<', (c) => c < 0], ['>', (c) => c > 0]]) {
        const where = `${name} ${operator} ${literal}`;
        const [{n}] = await query(`SELECT count(*) AS n FROM '${file}' WHERE ${where}`);
        const count = values.filter((value) => holds(compare(value, wanted))).length;
        ++filters;
        report(file, 'DuckDB',
               Number(n) === count ? null : `${where}: expected ${count} rows, found ${n}`);
      }
    }
  }
}

const files = process.argv.slice(2);
for (const file of files) {
  const text = readFileSync(file.replace(/parquet$/, 'jsonl'), 'utf8');
  const expected = text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  rows += expected.length;
  for (const [name, read] of Object.entries(readers)) {
    let difference;
    try {
      difference = findDifference(expected, await read(file));
    } catch (error) {
      difference = error.message;
    }
    report(file, name, difference);
  }
  await checkFilters(file, expected);
}
console.log(`${files.length} tables, ${rows} rows, ${filters} filters`);
process.exit(failed ? 1 : 0);
