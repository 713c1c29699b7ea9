// Predictions of an additive model of two classes: node predict.mjs MODEL.json < rows.json > predictions.json
// Rows are a JSON list of objects; a missing value is null or left out, a date is ISO 8601 (docs/model_format.md).
import {readFileSync} from "node:fs";

const spelled = (value) => String(value ?? "").trim();
const bits = (x) => new BigInt64Array(new Float64Array([x]).buffer)[0];
const ratio = (one, other) => Number((BigInt(one) << 160n) / other) / 2 ** 160;  // rounded once
const number = (value) => typeof value === "boolean" ? Number(value)
  : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(spelled(value)) ? Number(spelled(value)) : NaN;
function date(value, part) {
  const text = spelled(value).replace(/^(\d{4})(\.0*)?$/, part === "year" ? "$1-01-01" : ""), day = text.slice(0, 10);
  const time = new Date(`${day}T00:00:00Z`), [year, month] = day.split("-").map(Number);
  if (!/^(?!0000)\d{4}-\d\d-\d\d([T ].*)?$/.test(text) || isNaN(time) || !time.toISOString().startsWith(day)) return NaN;
  return part === "year" ? year + 0.5 : part === "weekday" ? (time.getUTCDay() + 6) % 7 + 0.5
    : 1970 + ((year - 1970) * 12 + month - 0.5) / 12;
}
function grid({lower, upper, cells, spacing, dates, format}, value) {
  const x = dates ? date(value, dates) : number(value), parts = cells === 65535 ? 65536 : cells;
  if (!Number.isFinite(x) || format?.missing_values?.includes(x)) return cells;
  if (Array.isArray(spacing)) return spacing.filter((cut) => cut <= x).length;
  const place = spacing === "linear" ? (x - lower) * (parts / (upper - lower))
    : x <= lower ? 0 : Number(bits(x) - bits(lower)) * ratio(parts, bits(upper) - bits(lower));
  return Math.min(Math.floor(Math.max(0, place)), cells - 1);
}
function meaning(value) {  // a truth value, a number to 15 digits, or a text behind a quote
  if (/^(true|false)$/i.test(spelled(value))) return spelled(value).toLowerCase();
  return Number.isNaN(number(value)) ? `'${spelled(value)}` : String(Number(number(value).toPrecision(15)));
}
function category({categories, exact}, value) {
  const byText = (one) => exact && typeof one === "string" && typeof value === "string";
  const same = (one, meant) => byText(one) ? spelled(one) === spelled(value) : meaning(one) === meant;
  const stand = {true: "1", false: "0", 1: "true", 0: "false"}[meaning(value)];  // 1 for true, and true for 1
  const places = [meaning(value), stand].map((meant) => categories.findIndex((one) => same(one, meant)));
  return spelled(value) === "" ? categories.length + 1 : [...places, categories.length].find((place) => place >= 0);
}
const truths = [["false", "f", "no", "n", "0"], ["true", "t", "yes", "y", "1"]];
function leaf({complete, splits, values}, codes) {
  let node = values.length > 1 ? 0 : -1, n = values.length - 1;  // splits; leaves are -1, -2, ...
  while (node >= 0) {
    const split = splits?.[node] ?? {column: complete.columns[node], in: complete.right[node]};
    const test = split.above ?? split.in, code = codes[split.column];
    const right = Number(Array.isArray(test) ? test.includes(code) : code > test), child = 2 * node + 1 + right;
    node = split.children ? split.children[right] : child < n ? child : n - 1 - child;
  }
  return values[-1 - node];
}
const encoders = {numeric_grid: grid, category_index: category, boolean_index: (_, value) => {
  const place = truths.findIndex((all) => all.includes(spelled(value).toLowerCase()) || all.includes(meaning(value)));
  return place < 0 ? 2 : place;
}};
const {kind, model: {features, intercept, mains, pairs, trees}} = JSON.parse(readFileSync(process.argv[2], "utf-8"));
if (kind !== "additive") throw new Error(`this reader knows additive models, and not ${kind}`);
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map((row) => {
  const coded = features.map(({name, encoder}) => encoders[encoder.kind](encoder, row[name]));
  const codes = features.map(({starts, bins}, k) => bins[starts.findLastIndex((start) => start <= coded[k])]);
  const all = [...mains.map(({feature, effect}) => effect[codes[feature]]), ...trees.map((tree) => leaf(tree, codes)),
    ...pairs.map(({features: [i, j], groups, effect}) => effect[groups[0][codes[i]]][groups[1][codes[j]]])];
  const positive = 1 / (1 + Math.exp(-all.reduce((sum, term) => sum + term, intercept)));
  return [1 - positive, positive];
})));
