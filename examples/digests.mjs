// Recomputes the digests in a model file: node digests.mjs MODEL.json
// In JavaScript the text of RFC 8785 is JSON.stringify, with keys in order: both write a number in the same way.
import {createHash} from "node:crypto";
import {readFileSync} from "node:fs";

export const canonical = (value) =>
  Array.isArray(value) ? `[${value.map(canonical).join(",")}]`
  : value !== null && typeof value === "object"
    ? `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`
  : JSON.stringify(value);

export const digest = (value) => createHash("sha256").update(canonical(value)).digest("hex");

export function digests({kind, model, schema, certificate}) {
  const {format, digest: own, signature, ...content} = certificate;
  const {charges, entries} = certificate;
  return [
    ["model", digest({kind, model}), certificate.model_digest],
    ...(schema ? [["schema", digest(schema), certificate.schema_digest]] : []),
    ["ledger", digest({charges, entries}), certificate.ledger_digest],
    ["certificate", digest(content), own],
  ];
}

if (process.argv[1]?.endsWith("digests.mjs")) {
  const rows = digests(JSON.parse(readFileSync(process.argv[2], "utf-8")));
  for (const [name, computed, stated] of rows) console.log(name, computed, computed === stated ? "as stated" : "NOT AS STATED");
  process.exitCode = rows.every(([, computed, stated]) => computed === stated) ? 0 : 4;
}
