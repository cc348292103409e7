// Runs a query in DuckDB and prints its rows as CSV:
//
//   node run_query.mjs FILE
//
// The query is in FILE. Must be below the folder that has the packages, as run.sh sees to.
import {readFileSync} from 'node:fs';

import {DuckDBInstance} from '@duckdb/node-api';

const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
const result = await duckdb.runAndReadAll(readFileSync(process.argv[2], 'utf8'));
console.log(result.columnNames().join(','));
for (const row of result.getRows()) console.log(row.join(','));
